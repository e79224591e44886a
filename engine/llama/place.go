package llama

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// memoryError says that a device has no room for what should go there.
type memoryError struct{ Err error }

func (e *memoryError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *memoryError) Unwrap() error { return e.Err }

// orMemory makes a *memoryError of what llama.cpp says when it is out of memory.
func orMemory(err error) error {
	for _, words := range []string{"unable to allocate", "failed to allocate", "out of memory"} {
		if err != nil && strings.Contains(strings.ToLower(err.Error()), words) {
			return &memoryError{err}
		}
	}
	return err
}

// spare is what is left free on each GPU: others draw on it, and llama.cpp takes
// a little more than is foreseen.
const spare = 512 << 20

// fewest is how many layers make a GPU worth its while. The output, which is the
// first to go there, is none alone.
const fewest = 2

// layersFor returns how many layers the GPUs have room for, with their part of
// the sequences' memory. All are one more than the model's, which is the output.
func layersFor(e *Estimate, gpus []gpu) int {
	all := e.Info.Layers + 1
	each := max(1, (e.Weights+e.Cache)/uint64(all))
	n := uint64(0)
	for _, g := range gpus {
		if taken := e.Compute + spare; g.free > taken {
			n += (g.free - taken) / each
		}
	}
	return int(min(n, uint64(all)))
}

// ownMemory returns how many of the layers on these GPUs are in memory of their
// own and not in the machine's.
func ownMemory(gpus []gpu, layers int) int {
	if len(gpus) == 0 || gpus[0].integrated {
		return 0
	}
	return layers
}

// place loads a model with as many layers on the GPUs as opt says. Where it leaves
// that open, they are as many as should fit, and fewer when they do not after all.
// What is left over is the processor's, and all where the GPUs take nothing.
func place(opt Options, gpus []gpu, e *Estimate, load func([]gpu, int) (*Model, error)) (*Model, error) {
	layers, all := opt.GPULayers, e.Info.Layers+1
	if layers < 0 {
		layers = layersFor(e, gpus)
	}
	layers = min(layers, all)
	for len(gpus) > 0 && layers >= fewest {
		fmt.Fprintf(os.Stderr, "dragoman-engine: putting %d of %d layers on %s\n", layers, all, joined(gpus))
		m, err := load(gpus, layers)
		if full := (*memoryError)(nil); !errors.As(err, &full) {
			return m, err
		}
		if opt.GPULayers >= 0 {
			return nil, fmt.Errorf("%w; fewer layers (-gpu-layers) may fit", err)
		}
		fmt.Fprintf(os.Stderr, "dragoman-engine: that does not fit: %v\n", err)
		layers /= 2
	}
	if len(gpus) > 0 && opt.GPULayers < 0 {
		full := fmt.Errorf("%s with %s free has no room for a layer of this model", joined(gpus), freeOf(gpus))
		if opt.Device != "" && opt.Device != "auto" {
			return nil, full
		}
		fmt.Fprintf(os.Stderr, "dragoman-engine: %v: the processor computes\n", full)
	}
	return load(nil, 0)
}

func joined(gpus []gpu) string {
	var list []string
	for _, g := range gpus {
		list = append(list, g.String())
	}
	return strings.Join(list, ", ")
}

func freeOf(gpus []gpu) string {
	var free uint64
	for _, g := range gpus {
		free += g.free
	}
	return fmt.Sprintf("%d MiB", free>>20)
}
