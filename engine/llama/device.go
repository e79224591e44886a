package llama

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// gpu is a device beside the processor.
type gpu struct {
	handle     llama.GGMLBackendDevice
	kind       string // one of Devices, or another of GGML's names in lower case
	name       string // such as Vulkan0
	about      string // such as NVIDIA GeForce RTX 3090
	integrated bool   // it has no memory of its own
	free       uint64 // bytes
}

func (g gpu) String() string { return g.name + " (" + g.about + ")" }

// kinds are our names for devices, where GGML has another.
var kinds = map[string]string{"mtl": "metal"}

// preference of those who leave the choice to us.
var preference = []string{"cuda", "metal", "rocm", "vulkan"}

// found lists the devices beside the processor.
func found() (list []gpu) {
	for i := range llama.GGMLBackendDeviceCount() {
		dev := llama.GGMLBackendDeviceGet(i)
		kind := llama.GGMLBackendDevType(dev)
		if kind != llama.GGMLBackendDeviceTypeGPU && kind != llama.GGMLBackendDeviceTypeIGPU {
			continue
		}
		backend := strings.ToLower(llama.GGMLBackendRegName(llama.GGMLBackendDeviceBackendReg(dev)))
		free, _ := llama.GGMLBackendDeviceMemory(dev)
		list = append(list, gpu{
			handle: dev, kind: cmp.Or(kinds[backend], backend),
			name: llama.GGMLBackendDeviceName(dev), about: oneLine(llama.GGMLBackendDeviceDescription(dev)),
			integrated: kind == llama.GGMLBackendDeviceTypeIGPU, free: free,
		})
	}
	return list
}

// choose returns which of the devices there shall compute for those who ask for
// device, one of Devices: none is the processor alone. All are of one kind, as
// two kinds may be two ways to the same GPU.
func choose(device string, there []gpu) ([]gpu, error) {
	if device == "cpu" {
		return nil, nil
	}
	kind := device
	if device == "" || device == "auto" {
		if len(there) == 0 {
			return nil, nil
		}
		kind = there[0].kind
		for _, k := range slices.Backward(preference) {
			if slices.ContainsFunc(there, func(g gpu) bool { return g.kind == k }) {
				kind = k
			}
		}
	}
	var own, integrated []gpu
	for _, g := range there {
		switch {
		case g.kind != kind:
		case g.integrated:
			integrated = append(integrated, g)
		default:
			own = append(own, g)
		}
	}
	switch {
	case len(own) > 0:
		return own, nil
	case len(integrated) > 0:
		return integrated[:1], nil
	}
	return nil, fmt.Errorf("there is no %s device here; llama.cpp's libraries found %s", kind, names(there))
}

// names tells what there is to compute on.
func names(there []gpu) string {
	list := []string{"cpu"}
	for _, g := range there {
		list = append(list, g.kind+" "+g.String())
	}
	return strings.Join(list, ", ")
}

// whyNot says what may be missing for a device.
func whyNot(device string) string {
	switch files, _ := filepath.Glob(filepath.Join(libraries, "*ggml-"+device+"*")); {
	case device == "metal":
		return "only Apple's machines have one"
	case len(files) == 0:
		return "make build-engine DEVICE=" + device + " fetches its library"
	case llama.GGMLBackendRegByName(registered[device]) == 0:
		return "its library cannot be loaded, maybe for want of the GPU's driver"
	}
	return "its library is there and sees no GPU"
}

// registered are GGML's names of the kinds whose libraries come apart.
var registered = map[string]string{"vulkan": "Vulkan", "cuda": "CUDA"}

// handles returns what llama.cpp wants of a choice: a list with an end mark.
func handles(gpus []gpu) []llama.GGMLBackendDevice {
	list := make([]llama.GGMLBackendDevice, 0, len(gpus)+1)
	for _, g := range gpus {
		list = append(list, g.handle)
	}
	return append(list, 0)
}
