//go:build llama && vulkan

// These tests need llama.cpp's library for Vulkan beside the others, and a
// Vulkan device: make vulkan sets both up. Mesa's llvmpipe, which is a device
// that computes on the processor, will do.

package main

import (
	"strings"
	"testing"
)

// useDevice makes ggml take the first Vulkan device, even if it is a processor.
func useDevice(t *testing.T) { t.Setenv("GGML_VK_VISIBLE_DEVICES", "0") }

const begin = greedy + `,"max_tokens":24`

func TestVulkanTellsTheKnownStory(t *testing.T) {
	useDevice(t)
	cpu := start(t, "-device", "cpu")
	want := cpu.generate(t, "Story about a dog.", begin)
	if cpu.ready.GPU != "" || !strings.Contains(want.text, "dog") {
		t.Errorf("on the processor: %+v tells %q", cpu.ready, want.text)
	}
	for _, device := range []string{"auto", "vulkan"} {
		p := start(t, "-device", device)
		if got := p.generate(t, "Story about a dog.", begin); got.text != want.text {
			t.Errorf("%s: got %q, want %q", device, got.text, want.text)
		}
		if !strings.HasPrefix(p.ready.GPU, "Vulkan0 (") {
			t.Errorf("%s: computed on %q", device, p.ready.GPU)
		}
	}
}

func TestVulkanAndProcessorShareAModel(t *testing.T) {
	useDevice(t)
	p := start(t, "-device", "vulkan", "-gpu-layers", "3")
	if got := p.generate(t, "Story about a dog.", begin); !strings.Contains(got.text, "dog") {
		t.Errorf("got %q", got.text)
	}
}

// A limit on buffers stands for a GPU that has less memory than it says.
func TestVulkanWithoutRoom(t *testing.T) {
	useDevice(t)
	t.Setenv("GGML_VK_FORCE_MAX_BUFFER_SIZE", "1000")
	p := start(t)
	if got := p.generate(t, "Story about a dog.", begin); !strings.Contains(got.text, "dog") || p.ready.GPU != "" {
		t.Errorf("on %q: %q", p.ready.GPU, got.text)
	}
	p.stdin.Close()
	p.wait()
	for _, want := range []string{"putting 7 of 7 layers on Vulkan0 (", "that does not fit: ", "putting 3 of 7 layers", "has no room for a layer of this model: the processor computes"} {
		if !strings.Contains(p.stderr.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, p.stderr)
		}
	}
	got := fails(t, "-lib", libDir(), "-model", builtin, "-device", "vulkan")
	if want := "has no room for a layer of this model"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestVulkanIsMissing(t *testing.T) {
	t.Setenv("VK_ICD_FILENAMES", "/nowhere.json") // no drivers
	t.Setenv("VK_DRIVER_FILES", "/nowhere.json")
	got := fails(t, "-lib", libDir(), "-model", builtin, "-device", "vulkan")
	if want := "there is no vulkan device here; llama.cpp's libraries found cpu; its library cannot be loaded, maybe for want of the GPU's driver"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if p := start(t); p.ready.GPU != "" {
		t.Errorf("computes on %q", p.ready.GPU)
	}
}
