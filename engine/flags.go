package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"dragoman/engine/gguf"
	"dragoman/engine/llama"
)

// computing defines the flags that say how to compute.
func computing(f *flag.FlagSet, o *llama.Options) {
	f.BoolVar(&o.Embeddings, "embeddings", false, "give embeddings in place of text; models that do nothing else do so anyway")
	f.StringVar(&o.Device, "device", "auto", "`where` to compute: "+strings.Join(llama.Devices, ", "))
	o.GPULayers = -1
	f.Func("gpu-layers", "`layers` to put on the GPU: a number, or auto (default auto)", func(s string) (err error) {
		o.GPULayers, err = gpuLayers(s)
		return err
	})
	f.BoolFunc("check-memory", "refuse a model that does not seem to fit into the free memory (default true)", func(s string) error {
		check, err := strconv.ParseBool(s)
		o.AnySize = !check
		return err
	})
	f.StringVar(&o.CacheK, "cache-type-k", "f16", "`type` of the keys in memory: "+strings.Join(gguf.CacheTypes, ", "))
	f.StringVar(&o.CacheV, "cache-type-v", "f16", "`type` of the values in memory, likewise; those with a q need flash attention")
	f.StringVar(&o.FlashAttention, "flash-attention", "auto", "`whether` to use it: "+strings.Join(llama.FlashAttentions, ", "))
	f.StringVar(&o.Rope.Scaling, "rope-scaling", "model", "`how` to stretch the model's context: "+strings.Join(llama.RopeScalings, ", "))
	f.Float64Var(&o.Rope.FreqBase, "rope-freq-base", 0, "RoPE's base `frequency` (default: the model's)")
	f.Float64Var(&o.Rope.FreqScale, "rope-freq-scale", 0, "`factor` for RoPE's frequencies: 0.5 doubles the context (default: the model's)")
}

// gpuLayers reads the value of -gpu-layers.
func gpuLayers(s string) (int, error) {
	if s == "auto" {
		return -1, nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("it is auto, or a number from 0 to 65535")
	}
	return int(n), nil
}
