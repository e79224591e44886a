package llama

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"unsafe"

	"dragoman/engine/gguf"

	"github.com/hybridgroup/yzma/pkg/llama"
)

const (
	maxDefaultInput = 2048 // tokens of an input, for those who do not say
	minEmbedBatch   = 512  // tokens that are read together, at least: short inputs come in numbers
)

// EmbedInputs is how many inputs of embeddings are read together at most.
const EmbedInputs = 64

// embeds reports whether the model is to be opened for embeddings.
func (o *Options) embeds(info *gguf.Info) bool { return o.Embeddings || info.Embeds() }

// inputSize returns how many tokens an input may have. Beyond what a model was
// trained for many have no positions at all.
func (o *Options) inputSize(trained int) int {
	size := o.Context
	if size <= 0 {
		size = maxDefaultInput
	}
	asTrained := o.Rope == Rope{} || o.Rope == Rope{Scaling: "model"}
	if trained > 0 && asTrained {
		size = min(size, trained)
	}
	return size
}

// embedBatch returns how many tokens are read together where an input may have size:
// llama.cpp pools what it computes at once.
func embedBatch(size int) int { return max(size, minEmbedBatch) }

// openEmbeddings makes the context of a model for embeddings. Where it remembers
// what it reads, the inputs of a batch share the room.
func (m *Model) openEmbeddings(opt Options, info *gguf.Info) error {
	logged.reset()
	m.pooling = info.Pooling()
	switch m.pooling {
	case gguf.NoPooling:
		m.pooling = gguf.Mean
	case gguf.Mean, gguf.CLS, gguf.Last:
	default:
		return fmt.Errorf("%s ranks documents (its pooling is %v): it gives no embeddings", filepath.Base(opt.File), m.pooling)
	}
	m.context = opt.inputSize(int(llama.ModelNCtxTrain(m.model)))
	m.maxBatch = embedBatch(m.context)
	p := llama.ContextDefaultParams()
	p.NCtx, p.NBatch, p.NUbatch = uint32(m.maxBatch), uint32(m.maxBatch), uint32(m.maxBatch)
	p.NSeqMax, p.KVUnified = EmbedInputs, 1
	contextParams(&p, opt, info)
	p.Embeddings, p.PoolingType, p.NoPerf = 1, llama.PoolingType(m.pooling), 1
	var err error
	if m.ctx, err = llama.InitFromModel(m.model, p); err != nil {
		return orMemory(fmt.Errorf("making room for inputs of %d tokens: %w", m.context, logged.reason(err)))
	}
	if m.mem, err = llama.GetMemory(m.ctx); err != nil {
		return err
	}
	m.batch = makeBatch(m.maxBatch)
	m.startThreads(opt, info)
	return nil
}

// Embeds reports whether the model was opened for embeddings: then Embed may be
// called, and neither Decode nor what belongs to it.
func (m *Model) Embeds() bool { return m.pooling != gguf.NoPooling }

// Pooling names how the embeddings of an input's tokens become one.
func (m *Model) Pooling() string { return m.pooling.String() }

// Dimensions returns how many numbers an embedding has.
func (m *Model) Dimensions() int { return int(llama.ModelNEmbdOut(m.model)) }

// MaxBatch returns how many tokens Embed takes at once.
func (m *Model) MaxBatch() int { return m.maxBatch }

// Surroundings returns the tokens that the model wants before and after each text,
// such as [CLS] and [SEP].
func (m *Model) Surroundings() (before, after []int32, err error) {
	plain, err := m.tokenizeAs("a", 0)
	if err != nil {
		return nil, nil, err
	}
	whole, err := m.tokenizeAs("a", 1)
	if err != nil {
		return nil, nil, err
	}
	for at := 0; at+len(plain) <= len(whole); at++ {
		if slices.Equal(whole[at:at+len(plain)], plain) {
			return whole[:at], whole[at+len(plain):], nil
		}
	}
	return nil, nil, errors.New("the model's tokenizer reads a text otherwise when it stands alone")
}

// Embed implements embed.Model.
func (m *Model) Embed(inputs [][]int32) ([][]float32, error) {
	tokens, pos := unsafe.Slice(m.batch.Token, m.maxBatch), unsafe.Slice(m.batch.Pos, m.maxBatch)
	seqs, outputs := unsafe.Slice(m.batch.SeqId, m.maxBatch), unsafe.Slice(m.batch.Logits, m.maxBatch)
	n := 0
	for seq, input := range inputs {
		if n+len(input) > m.maxBatch || seq >= EmbedInputs {
			return nil, fmt.Errorf("a batch of more than %d inputs or %d tokens", EmbedInputs, m.maxBatch)
		}
		for i, id := range input {
			tokens[n], pos[n], *seqs[n], outputs[n] = llama.Token(id), llama.Pos(i), llama.SeqId(seq), 1
			n++
		}
	}
	if m.mem != 0 {
		if err := llama.MemoryClear(m.mem, false); err != nil {
			return nil, err
		}
	}
	if err := m.compute(n); err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(inputs))
	for seq := range inputs {
		v, err := llama.GetEmbeddingsSeq(m.ctx, llama.SeqId(seq), int32(m.Dimensions()))
		if err != nil {
			return nil, err
		}
		if v == nil {
			return nil, errors.New("llama.cpp gave no embedding")
		}
		vectors[seq] = slices.Clone(v)
	}
	return vectors, nil
}
