package gguf

import "cmp"

// Use says how a model is to be used, as far as that costs memory.
type Use struct {
	Context  int  // tokens of one sequence
	Parallel int  // sequences
	Batch    int  // tokens that are computed together
	Outputs  int  // of them, those that something is told about; 0: one for each sequence
	Flash    bool // flash attention, which needs no scores of all pairs
	K, V     Type // what keys and values are kept as
}

// Memory is an estimate of the bytes that a model takes while it runs.
type Memory struct {
	Weights uint64 // as in the file
	Cache   uint64 // what is remembered of the sequences: keys, values, states
	Compute uint64 // what one batch needs for a moment
	Process uint64 // the program, its libraries, the vocabulary
}

// Total returns the sum.
func (m Memory) Total() uint64 { return m.Weights + m.Cache + m.Compute + m.Process }

// llama.cpp allots cells by the 256.
func padded(cells int) uint64 { return (uint64(max(cells, 1)) + 255) / 256 * 256 }

// Memory estimates what the model takes, from its metadata and the forms of its
// weights. Where an architecture keeps less than they tell, it is too high.
func (i *Info) Memory(u Use) Memory {
	return Memory{
		Weights: i.Weights,
		Cache:   i.cache(u),
		Compute: i.compute(u),
		Process: processBytes + i.vocab*tokenBytes,
	}
}

// Measured: what the program takes besides its libraries, and what it and
// llama.cpp keep for each token of the vocabulary.
const (
	processBytes = 12 << 20
	tokenBytes   = 300
)

// cache adds up the layers' keys and values, or their states. Layers that look
// back over a window only have as many cells as the others: llama.cpp is told to
// keep all, so that prompts can be used again.
func (i *Info) cache(u Use) uint64 {
	cells, parallel := padded(u.Context), uint64(max(u.Parallel, 1))
	sum := uint64(0)
	for n := range i.Layers {
		switch {
		case i.isRecurrent(n):
			sum += parallel * 4 * i.state()
		case i.remembers(n):
			sum += parallel * cells * i.cell(n, u)
		}
	}
	return sum
}

// isRecurrent reports whether layer n keeps a state. There are models whose
// layers are all alike in the forms of their weights and of two kinds in use.
func (i *Info) isRecurrent(n int) bool {
	if n >= len(i.layers) || !i.layers[n].recurrent {
		return false
	}
	every := i.number("full_attention_interval")
	return !i.layers[n].attention || every > 1 && uint64(n+1)%every != 0
}

// KeepsAll reports whether every layer keeps keys and values of all tokens: there
// are no windows and no states.
func (i *Info) KeepsAll() bool {
	for n := range i.Layers {
		if i.isRecurrent(n) {
			return false
		}
	}
	return i.number("attention.sliding_window") == 0
}

// remembers reports whether layer n keeps keys and values of its own.
func (i *Info) remembers(n int) bool {
	own := uint64(i.Layers)
	if shared := i.number("attention.shared_kv_layers"); shared < own {
		own -= shared
	}
	if i.Architecture == "gemma3n" {
		own = min(own, 20)
	}
	return uint64(n) < own && (n >= len(i.layers) || i.layers[n].attention)
}

// cell returns the bytes that layer n keeps of one token.
func (i *Info) cell(n int, u Use) uint64 {
	heads := i.at("attention.head_count_kv", n)
	if heads == 0 {
		heads = i.at("attention.head_count", n)
	}
	k, v := heads*i.headLength("attention.key_length"), heads*i.headLength("attention.value_length")
	if n < len(i.layers) {
		l := i.layers[n]
		if l.k > 0 {
			k = l.k
		}
		if l.v > 0 {
			v = l.v
		}
		if l.latent && i.number("attention.key_length_mla") > 0 {
			v = 0
		}
	}
	return u.K.Bytes(k) + u.V.Bytes(v)
}

// headLength returns the numbers of a head's key or value.
func (i *Info) headLength(key string) uint64 {
	if n := i.number(key); n > 0 {
		return n
	}
	return i.number("embedding_length") / max(i.at("attention.head_count", 0), 1)
}

// ShortHeads reports whether an attention head is shorter than 64 numbers.
func (i *Info) ShortHeads() bool {
	return i.number("embedding_length") < 64*i.at("attention.head_count", 0)
}

// state returns the numbers in a layer's state of one sequence.
func (i *Info) state() uint64 {
	embedding, inner, size := i.number("embedding_length"), i.number("ssm.inner_size"), i.number("ssm.state_size")
	switch {
	case i.number("wkv.head_size") > 0:
		return embedding * (2 + i.number("wkv.head_size"))
	case i.number("shortconv.l_cache") > 0:
		return embedding * i.number("shortconv.l_cache")
	}
	return size*inner + i.number("ssm.conv_kernel")*(inner+2*i.number("ssm.group_count")*size)
}

// compute returns the bytes of the largest moment in the computation of a batch,
// in rows of 32-bit numbers, one for each token. llama.cpp's own figures for
// seven models are met to within 5 %.
func (i *Info) compute(u Use) uint64 {
	cells := padded(u.Context)
	embedding, heads := i.number("embedding_length"), i.at("attention.head_count", 0)
	feed := uint64(0)
	for n := range max(1, i.Layers) {
		feed = max(feed, i.at("feed_forward_length", n))
	}
	row := 3*feed + 4*embedding
	if i.experts {
		used := i.number("expert_used_count")
		row = max(row, used*(2*embedding+i.number("expert_feed_forward_length"))+3*embedding)
	}
	mask := cells / 2
	if !u.Flash {
		mask = cells
		row = max(row, heads*cells+7*max(embedding, heads*i.headLength("attention.key_length")))
	}
	batch := uint64(max(u.Batch, 1))
	logits := uint64(cmp.Or(u.Outputs, max(u.Parallel, 1))) * i.vocab
	return 4 * (max(batch*row, logits+2*batch*embedding) + batch*mask + logits)
}
