package gguf

import "testing"

const mib = 1 << 20

// model is one with metadata of an architecture and these kinds of layers.
func model(arch string, layers []layer, pairs ...any) *Info {
	i := &Info{Architecture: arch, Layers: len(layers), layers: layers, meta: metadata{}}
	for n := 0; n < len(pairs); n += 2 {
		switch v := pairs[n+1].(type) {
		case int:
			i.meta[arch+"."+pairs[n].(string)] = value{numbers: []uint64{uint64(v)}}
		case []uint64:
			i.meta[arch+"."+pairs[n].(string)] = value{numbers: v}
		}
	}
	return i
}

func alike(n int, l layer) []layer {
	list := make([]layer, n)
	for i := range list {
		list[i] = l
	}
	return list
}

// The figures are llama.cpp's own for these models.
func TestMemoryIsWhatLlamaCppTakes(t *testing.T) {
	f := func(name string, i *Info, vocab uint64, u Use, cache, compute float64) {
		t.Helper()
		i.vocab, u.Batch = vocab, 512
		m := i.Memory(u)
		if got := float64(m.Cache) / mib; got < cache*0.99 || got > cache*1.01 {
			t.Errorf("%s: cache of %.2f MiB, want %.2f", name, got, cache)
		}
		// llama.cpp counts the logits twice: here, and as its output buffer.
		if got := float64(m.Compute) / mib; got < compute*0.95 || got > compute*1.05 {
			t.Errorf("%s: %.2f MiB to compute, want %.2f", name, got, compute)
		}
	}
	smol := func() *Info {
		return model("llama", alike(30, layer{attention: true, k: 192, v: 192}), "embedding_length", 576, "feed_forward_length", 1536, "attention.head_count", 9, "attention.head_count_kv", 3)
	}
	f("135M", smol(), 49152, Use{Context: 4096, Parallel: 8, Flash: true, K: 1, V: 1}, 720, 17.51+1.5)
	f("135M with q8_0", smol(), 49152, Use{Context: 4096, Parallel: 8, Flash: true, K: 8, V: 8}, 382.5, 17.51+1.5)
	f("built-in", model("llama", alike(6, layer{attention: true, k: 160, v: 160}), "embedding_length", 160, "feed_forward_length", 480, "attention.head_count", 5),
		2000, Use{Context: 1024, Parallel: 8, K: 1, V: 1}, 30, 14.20+0.06)
	f("heads of 32", model("llama", alike(4, layer{attention: true}), "embedding_length", 320, "feed_forward_length", 1280, "attention.head_count", 10),
		8192, Use{Context: 2048, Parallel: 8, K: 1, V: 1}, 80, 48.38+0.25)
	f("8B, two layers", model("llama", alike(2, layer{attention: true, k: 1024, v: 1024}), "embedding_length", 4096, "feed_forward_length", 14336, "attention.head_count", 32),
		128256, Use{Context: 2048, Parallel: 8, Flash: true, K: 1, V: 1}, 128, 118.01+3.91)
	experts := model("qwen3moe", alike(2, layer{attention: true, k: 512, v: 512}), "embedding_length", 2048, "feed_forward_length", 6144,
		"expert_used_count", 8, "expert_feed_forward_length", 768, "attention.head_count", 32)
	experts.experts = true
	f("128 experts, two layers", experts, 151936, Use{Context: 2048, Parallel: 8, Flash: true, K: 1, V: 1}, 64, 90.01+4.64)
	gemma := func() *Info {
		return model("gemma3", alike(8, layer{attention: true, k: 1024, v: 1024}), "embedding_length", 2560, "feed_forward_length", 10240,
			"attention.head_count", 8, "attention.key_length", 256)
	}
	f("windows", gemma(), 262144, Use{Context: 2048, Parallel: 8, Flash: true, K: 1, V: 1}, 64+448, 83.02+8)
}

func TestCacheOfOtherArchitectures(t *testing.T) {
	f := func(name string, i *Info, want uint64) {
		t.Helper()
		if got := i.cache(Use{Context: 4096, Parallel: 2, Batch: 512, K: 1, V: 1}); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	kv := layer{attention: true, k: 64, v: 64}
	f("a state for each sequence", model("mamba", alike(3, layer{recurrent: true}), "ssm.inner_size", 100, "ssm.state_size", 16, "ssm.conv_kernel", 4), 3*2*4*(1600+400))
	f("a state, but for each fourth layer", model("qwen35", alike(4, layer{attention: true, recurrent: true, k: 64, v: 64}), "full_attention_interval", 4,
		"ssm.inner_size", 100, "ssm.state_size", 16), 3*2*4*1600+2*2*64*2*4096)
	f("keys and values as one", model("deepseek2", alike(1, layer{attention: true, latent: true, k: 576}), "attention.key_length_mla", 192, "attention.head_count_kv", 1, "attention.value_length", 512), 2*576*2*4096)
	f("layers that look at others' keys", model("gemma4", alike(4, kv), "attention.shared_kv_layers", 3), 2*2*64*2*4096)
	f("heads by layer", model("x", []layer{{attention: true}, {}}, "attention.head_count", 8, "attention.head_count_kv", []uint64{2, 0}, "embedding_length", 512), 2*2*128*2*4096)
}

func TestKeepsAll(t *testing.T) {
	f := func(want bool, i *Info) {
		t.Helper()
		if got := i.KeepsAll(); got != want {
			t.Errorf("%s: got %v", i.Architecture, got)
		}
	}
	f(true, model("llama", alike(2, layer{attention: true})))
	f(false, model("gemma3", alike(2, layer{attention: true}), "attention.sliding_window", 512))
	f(false, model("mamba", alike(2, layer{recurrent: true})))
}

// A file may claim anything.
func TestMemoryOfNonsense(t *testing.T) {
	big := 1 << 62
	model("x", nil).Memory(Use{})
	model("x", alike(2, layer{attention: true, recurrent: true, k: 1 << 63}), "embedding_length", big, "attention.head_count", big,
		"full_attention_interval", 2, "ssm.inner_size", big).Memory(Use{Context: big, Parallel: big, Batch: big})
}
