package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"dragoman/engine/llama"
	"dragoman/engine/machine"
)

// estimated is what -estimate prints: see PROTOCOL.md.
type estimated struct {
	Model        string `json:"model"`
	File         string `json:"file"`
	Architecture string `json:"architecture"`
	Quantization string `json:"quantization,omitempty"`
	Parameters   uint64 `json:"parameters"`
	Size         int64  `json:"size"`
	Context      int    `json:"n_ctx"`
	TrainContext int    `json:"n_ctx_train"`
	Parallel     int    `json:"parallel"`
	Memory       struct {
		Weights uint64 `json:"weights"`
		Cache   uint64 `json:"cache"`
		Compute uint64 `json:"compute"`
		Process uint64 `json:"process"`
		Aside   uint64 `json:"aside"`
		Total   uint64 `json:"total"`
		Host    uint64 `json:"host"` // of it, what is not on a GPU
	} `json:"memory"`
	Free    uint64 `json:"free,omitempty"`    // of this machine's memory
	Machine uint64 `json:"machine,omitempty"` // what it has, or may have
	Fits    bool   `json:"fits"`
}

// estimate prints what the model would take, without loading it. Libraries are
// looked at only where one is for a GPU.
func estimate(o options, out io.Writer) error {
	file, name, err := modelFile(o.model)
	if err != nil {
		return err
	}
	o.llama.File, o.llama.Batch = file, max(batchTokens, o.llama.Parallel)
	e, err := llama.NewEstimate(o.llama)
	if err != nil {
		return err
	}
	here, layers := machine.Read(), 0
	if hasGPULibrary(o.lib) && o.llama.Device != "cpu" {
		_, _ = llama.Load(o.lib) // whose failure is for the start to tell
		layers = e.Offloaded(o.llama)
	}
	if layers > 0 {
		e.Aside = 0
	}
	fits := e.Fit(here, layers) == nil
	p := estimated{
		Model: name, File: e.Info.Files[0], Architecture: e.Info.Architecture, Quantization: e.Info.Quantization,
		Parameters: e.Info.Parameters, Size: e.Info.Size, Context: e.Context, TrainContext: e.Info.Context, Parallel: e.Parallel,
		Free: here.Free, Machine: here.Total, Fits: fits,
	}
	p.Memory.Weights, p.Memory.Cache, p.Memory.Compute, p.Memory.Process = e.Weights, e.Cache, e.Compute, e.Process
	p.Memory.Aside = e.Aside
	p.Memory.Total, p.Memory.Host = e.Total(), e.Host(layers)
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", line)
	return err
}

// hasGPULibrary reports whether the libraries may find a GPU with its own memory.
func hasGPULibrary(dir string) bool {
	for _, kind := range []string{"vulkan", "cuda"} {
		if files, _ := filepath.Glob(filepath.Join(dir, "*ggml-"+kind+"*")); len(files) > 0 {
			return true
		}
	}
	return false
}
