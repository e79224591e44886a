package llama

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// backends are GGML's names for devices, where they differ from ours.
var backends = map[string]string{"metal": "mtl"}

// found lists the backends that have devices here, by GGML's names in lower case.
func found() map[string][]llama.GGMLBackendDevice {
	list := make(map[string][]llama.GGMLBackendDevice)
	for i := range llama.GGMLBackendDeviceCount() {
		dev := llama.GGMLBackendDeviceGet(i)
		name := strings.ToLower(llama.GGMLBackendRegName(llama.GGMLBackendDeviceBackendReg(dev)))
		list[name] = append(list[name], dev)
	}
	return list
}

// devices returns the devices that name asks for, and nil for auto and cpu.
func devices(name string) ([]llama.GGMLBackendDevice, error) {
	if name == "" || name == "auto" || name == "cpu" {
		return nil, nil
	}
	there := found()
	backend := name
	if other := backends[name]; other != "" && there[name] == nil {
		backend = other
	}
	if list := there[backend]; list != nil {
		return append(list, 0), nil // llama.cpp wants an end mark
	}
	var names []string
	for n := range there {
		names = append(names, n)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("there is no %s device here; llama.cpp's libraries found %s", name, strings.Join(names, ", "))
}

// offloaded returns how many layers opt puts on a GPU that is there.
func offloaded(opt Options) int {
	there := found()
	delete(there, "cpu")
	switch {
	case len(there) == 0 || opt.Device == "cpu":
		return 0
	case opt.GPULayers < 0:
		return math.MaxInt
	}
	return opt.GPULayers
}
