package gguf

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

const (
	maxDims   = 4
	maxLayers = 4096
)

// tensor reads a tensor's description and checks what it claims.
func (d *decoder) tensor() error {
	name, err := d.string(maxText)
	if err != nil {
		return err
	}
	n, err := d.uint32()
	if err != nil {
		return err
	}
	if n > maxDims {
		return fmt.Errorf("the file is damaged: tensor %s has %d dimensions", quoted(name), n)
	}
	dims := [maxDims]uint64{1, 1, 1, 1}
	for i := range dims[:n] {
		if dims[i], err = d.uint64(); err != nil {
			return err
		}
	}
	kind, err := d.uint32()
	if err != nil {
		return err
	}
	offset, err := d.uint64()
	if err != nil {
		return err
	}
	return d.take(name, dims, Type(kind), offset)
}

// take counts a tensor in.
func (d *decoder) take(name string, dims [maxDims]uint64, t Type, offset uint64) error {
	if t.String() == "" {
		return fmt.Errorf("tensor %s is of type %d, which this engine does not know: the file is damaged, or of another time", quoted(name), t)
	}
	count := uint64(1)
	for _, n := range dims {
		over, product := bits.Mul64(count, n)
		if over != 0 || product > 1<<48 {
			return fmt.Errorf("the file is damaged: tensor %s has %d numbers", quoted(name), dims)
		}
		count = product
	}
	bytes := t.Bytes(count)
	switch {
	case dims[0]%layouts[t].block != 0:
		return fmt.Errorf("the file is damaged: tensor %s has rows of %d numbers, and its type %s blocks of %d", quoted(name), dims[0], t, layouts[t].block)
	case offset%d.align != 0:
		return fmt.Errorf("the file is damaged: tensor %s begins at %d, which is no multiple of %d", quoted(name), offset, d.align)
	case offset > 1<<62:
		return fmt.Errorf("%w: tensor %s begins at byte %d of the weights", ErrTruncated, quoted(name), offset)
	}
	d.tensors++
	d.parameters += count
	d.weights += bytes
	if end := offset + bytes; end >= d.end {
		d.end, d.last = end, quoted(name)
	}
	d.place(name, dims)
	return nil
}

// layer is what the weights of a block tell about the memory that it needs.
type layer struct {
	attention bool
	k, v      uint64 // numbers to remember for each token; 0: not told
	latent    bool   // keys and values are kept as one (MLA)
	recurrent bool   // a state for each sequence, whatever its length
}

// place notes what a tensor's name and form tell about its block.
func (d *decoder) place(name string, dims [maxDims]uint64) {
	if name == "token_embd.weight" {
		d.vocab = dims[1]
	}
	rest, ok := strings.CutPrefix(name, "blk.")
	number, role, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 || n >= maxLayers {
		return
	}
	for len(d.layers) <= n {
		d.layers = append(d.layers, layer{})
	}
	l := &d.layers[n]
	switch role {
	case "attn_k.weight":
		l.attention, l.k = true, dims[1]
	case "attn_v.weight":
		l.attention, l.v = true, dims[1]
	case "attn_qkv.weight":
		l.attention = true
	case "attn_kv_a_mqa.weight":
		l.attention, l.latent, l.k = true, true, dims[1]
	case "ffn_gate_inp.weight":
		d.experts = true
	}
	if strings.HasPrefix(role, "ssm_") || strings.HasPrefix(role, "time_mix_") || strings.HasPrefix(role, "shortconv.") {
		l.recurrent = true
	}
}

// fileTypes names the ways of packing a whole model (llama_ftype).
var fileTypes = map[uint64]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
	11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
	19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S",
	27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0",
	38: "MXFP4", 39: "NVFP4", 40: "Q1_0", 41: "Q2_0",
}
