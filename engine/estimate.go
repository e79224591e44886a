package main

import (
	"encoding/json"
	"fmt"
	"io"

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
		Total   uint64 `json:"total"`
	} `json:"memory"`
	Free    uint64 `json:"free,omitempty"`    // of this machine's memory
	Machine uint64 `json:"machine,omitempty"` // what it has, or may have
	Fits    bool   `json:"fits"`
}

// estimate prints what the model would take, without loading it.
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
	here := machine.Read()
	p := estimated{
		Model: name, File: e.Info.Files[0], Architecture: e.Info.Architecture, Quantization: e.Info.Quantization,
		Parameters: e.Info.Parameters, Size: e.Info.Size, Context: e.Context, TrainContext: e.Info.Context, Parallel: e.Parallel,
		Free: here.Free, Machine: here.Total, Fits: e.Check(here, 0) == nil,
	}
	p.Memory.Weights, p.Memory.Cache, p.Memory.Compute, p.Memory.Process = e.Weights, e.Cache, e.Compute, e.Process
	p.Memory.Total = e.Total()
	line, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", line)
	return err
}
