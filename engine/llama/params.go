package llama

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dragoman/engine/gguf"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// Values of Options.Device, Options.FlashAttention and Rope.Scaling. "" stands
// for the first, and Device's first takes a GPU if there is one.
var (
	Devices         = []string{"auto", "cpu", "vulkan", "cuda", "metal"}
	FlashAttentions = []string{"auto", "on", "off"}
	RopeScalings    = []string{"model", "none", "linear", "yarn"}
)

// Rope stretches the positions that the model was trained for over more
// tokens. The zero value leaves that to the model.
type Rope struct {
	Scaling   string  // one of RopeScalings
	FreqBase  float64 // base frequency; 0: the model's
	FreqScale float64 // factor for frequencies, 0.5 doubles the context; 0: the model's
}

// choice checks an option that has a few values.
func choice(what, value string, values []string) error {
	if value == "" || slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("%s takes %s, not %q", what, strings.Join(values, ", "), value)
}

// Check reports what is wrong with the options that say how to compute. The
// error names the flag of the program.
func (o *Options) Check() error {
	v, _ := gguf.CacheType(o.CacheV)
	switch {
	case o.Rope.FreqBase < 0 || o.Rope.FreqScale < 0:
		return errors.New("-rope-freq-base and -rope-freq-scale take 0 or more")
	case v.Quantized() && o.FlashAttention == "off":
		return fmt.Errorf("-cache-type-v %s needs flash attention", v)
	}
	return errors.Join(
		choice("-device", o.Device, Devices),
		choice("-cache-type-k", o.CacheK, gguf.CacheTypes),
		choice("-cache-type-v", o.CacheV, gguf.CacheTypes),
		choice("-flash-attention", o.FlashAttention, FlashAttentions),
		choice("-rope-scaling", o.Rope.Scaling, RopeScalings),
	)
}

// flash reports whether to use flash attention, if llama.cpp can.
//
// Its dot products of fewer than 64 numbers use no vectors on processors with
// AVX-512, and flash attention is all dot products: with heads of 32 numbers it
// made a step three times as dear.
func (o *Options) flash(info *gguf.Info) bool {
	v, _ := gguf.CacheType(o.CacheV)
	return o.FlashAttention == "on" || o.FlashAttention != "off" && (v.Quantized() || !info.ShortHeads())
}

// contextParams sets what opt says about the context beyond its size.
func contextParams(p *llama.ContextParams, opt Options, info *gguf.Info) {
	k, _ := gguf.CacheType(opt.CacheK)
	v, _ := gguf.CacheType(opt.CacheV)
	p.TypeK, p.TypeV = llama.GGMLType(k), llama.GGMLType(v)
	switch {
	case opt.FlashAttention == "on":
		p.FlashAttentionType = llama.FlashAttentionTypeEnabled
	case !opt.flash(info):
		p.FlashAttentionType = llama.FlashAttentionTypeDisabled
	}
	switch opt.Rope.Scaling {
	case "none":
		p.RopeScalingType = llama.RopeScalingTypeNone
	case "linear":
		p.RopeScalingType = llama.RopeScalingTypeLinear
	case "yarn":
		p.RopeScalingType = llama.RopeScalingTypeYARN
	}
	p.RopeFreqBase, p.RopeFreqScale = float32(opt.Rope.FreqBase), float32(opt.Rope.FreqScale)
}
