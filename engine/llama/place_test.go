package llama

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dragoman/engine/gguf"
)

var (
	small = gpu{kind: "vulkan", name: "Vulkan0", about: "Small", free: 2 << 30}
	large = gpu{kind: "cuda", name: "CUDA0", about: "Large", free: 24 << 30}
	chip  = gpu{kind: "vulkan", name: "Vulkan1", about: "Chip", free: 8 << 30, integrated: true}
	apple = gpu{kind: "metal", name: "MTL0", about: "Apple", free: 8 << 30}
)

func TestChoose(t *testing.T) {
	f := func(device string, there []gpu, want ...gpu) {
		t.Helper()
		got, err := choose(device, there)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s of %v: got %v, %v, want %v", device, there, got, err, want)
		}
	}
	f("auto", nil)
	f("", nil)
	f("auto", []gpu{small}, small)
	f("auto", []gpu{small, large, chip}, large) // the same card may be in the list twice
	f("auto", []gpu{small, chip, small}, small, small)
	f("auto", []gpu{chip, chip}, chip)
	f("auto", []gpu{{kind: "sycl"}, small}, small)
	f("auto", []gpu{{kind: "sycl"}}, gpu{kind: "sycl"})
	f("cpu", []gpu{small, large})
	f("vulkan", []gpu{small, large}, small)
	f("metal", []gpu{apple}, apple)

	_, err := choose("cuda", []gpu{small, chip})
	if want := "there is no cuda device here; llama.cpp's libraries found cpu, vulkan Vulkan0 (Small), vulkan Vulkan1 (Chip)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestLayersFor(t *testing.T) {
	f := func(free uint64, want int, more ...gpu) {
		t.Helper()
		e := &Estimate{Info: &gguf.Info{Layers: 9}, Memory: gguf.Memory{Weights: 900 << 20, Cache: 100 << 20, Compute: 200 << 20, Process: 1 << 40}}
		if got := layersFor(e, append(more, gpu{free: free})); got != want {
			t.Errorf("%d MiB: got %d layers, want %d", free>>20, got, want)
		}
	}
	f(0, 0)
	f(712<<20, 0)  // the reserve and what a step needs
	f(813<<20, 1)  // and 100 for a layer
	f(1300<<20, 5) //
	f(1712<<20, 10)
	f(1<<60, 10)
	f(1300<<20, 8, gpu{free: 1012 << 20})
}

func TestPlace(t *testing.T) {
	e := &Estimate{Info: &gguf.Info{Layers: 9}, Memory: gguf.Memory{Weights: 1000 << 20}} // 100 MiB for each of 10
	room := func(layers uint64) []gpu {
		return []gpu{{name: "Vulkan0", about: "Small", free: spare + layers*(100<<20) + 1}}
	}
	full := orMemory(errors.New("unable to allocate Vulkan0 buffer"))
	// f loads onto a GPU that holds so many layers; the tries are told as text.
	f := func(opt Options, gpus []gpu, holds int, want string) {
		t.Helper()
		var tries []string
		_, err := place(opt, gpus, e, func(gpus []gpu, layers int) (*Model, error) {
			tries = append(tries, fmt.Sprint(len(gpus), ":", layers))
			if layers > holds {
				return nil, full
			}
			return nil, nil
		})
		if err != nil {
			tries = append(tries, err.Error())
		}
		if got := strings.Join(tries, " "); got != want {
			t.Errorf("%+v: got %q, want %q", opt, got, want)
		}
	}
	auto := Options{GPULayers: -1}
	f(auto, nil, 0, "0:0")
	f(auto, room(10), 10, "1:10")
	f(auto, room(7), 7, "1:7")
	f(auto, room(10), 4, "1:10 1:5 1:2")
	f(auto, room(10), 1, "1:10 1:5 1:2 0:0")
	f(auto, room(1), 1, "0:0")
	f(Options{GPULayers: -1, Device: "vulkan"}, room(3), 0, "1:3 Vulkan0 (Small) with 812 MiB free has no room for a layer of this model")
	f(Options{GPULayers: 7}, room(10), 6, "1:7 unable to allocate Vulkan0 buffer; fewer layers (-gpu-layers) may fit")
	f(Options{GPULayers: 99}, room(3), 10, "1:10")
	f(Options{GPULayers: 0, Device: "vulkan"}, room(10), 0, "0:0")

	// What is wrong with the file is not tried again.
	broken, calls := errors.New("tensor 'x' is missing"), 0
	_, err := place(auto, room(10), e, func([]gpu, int) (*Model, error) { calls++; return nil, orMemory(broken) })
	if err != broken || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
}
