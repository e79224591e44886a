package llama

import (
	"cmp"
	"fmt"

	"dragoman/engine/gguf"
	"dragoman/engine/machine"
)

// Estimate is what a model will take, told before it is loaded.
type Estimate struct {
	Info     *gguf.Info
	Context  int // tokens of one sequence
	Parallel int
	gguf.Memory
	Aside uint64 // bytes more to read a prompt beside the answers, if there is room for that
}

// NewEstimate reads the header of opt.File. It needs no libraries. The error
// says what is wrong with the file.
func NewEstimate(opt Options) (*Estimate, error) {
	info, err := gguf.Check(opt.File)
	if err != nil {
		return nil, err
	}
	e := &Estimate{Info: info, Context: contextSize(opt.Context, info.Context), Parallel: opt.Parallel}
	u := opt.use(info)
	if opt.embeds(info) {
		e.Context, e.Parallel = opt.inputSize(info.Context), 1
		batch := embedBatch(e.Context)
		u.Context, u.Parallel, u.Batch, u.Outputs = batch, 1, batch, batch
	}
	e.Memory = info.Memory(u)
	if opt.asides(info) {
		m := opt.asideMemory(info)
		e.Aside = m.Compute + 2*m.Cache // the second is on its way to the others'
	}
	return e, nil
}

// use returns how the model is used to continue text.
func (o *Options) use(info *gguf.Info) gguf.Use {
	u := gguf.Use{Context: contextSize(o.Context, info.Context), Parallel: o.Parallel, Batch: min(o.Batch, maxUbatch), Flash: o.flash(info)}
	u.K, _ = gguf.CacheType(o.CacheK)
	u.V, _ = gguf.CacheType(o.CacheV)
	return u
}

// Total returns the sum.
func (e *Estimate) Total() uint64 { return e.Memory.Total() + e.Aside }

// Host returns the bytes that the machine's own memory must have when that many
// layers, from 0 to all, are in the memory of GPUs.
func (e *Estimate) Host(layers int) uint64 {
	all := max(e.Info.Layers, 1)
	here := uint64(all - min(layers, all))
	if here == uint64(all) {
		return e.Total()
	}
	return e.Process + e.Compute + (e.Weights+e.Cache)/uint64(all)*here
}

// Offloaded returns how many layers Open would try to put into the memory of
// GPUs. It is 0 without a GPU that has its own, and before Load.
func (e *Estimate) Offloaded(opt Options) int {
	if opt.Device == "cpu" || libraries == "" {
		return 0
	}
	gpus, err := choose(opt.Device, found())
	if err != nil {
		return 0 // Open says why
	}
	layers := opt.GPULayers
	if layers < 0 {
		layers = layersFor(e, gpus)
	}
	if layers < fewest {
		return 0
	}
	return ownMemory(gpus, layers)
}

// Fit returns an error with the figures if the model does not fit into the
// memory that is free, with that many layers elsewhere. It sets Aside to 0 if
// there is no room for that alone.
func (e *Estimate) Fit(m machine.Memory, layers int) error {
	free := cmp.Or(m.Free, m.Total)
	if free == 0 || e.Host(layers) <= free {
		return nil
	}
	e.Aside = 0
	need := e.Host(layers)
	if need <= free {
		return nil
	}
	return fmt.Errorf("the model does not fit: it needs about %s of memory (weights %s; %d requests of %d tokens %s; the rest %s) and %s are free. "+
		"Lower -ctx or -parallel, shorten -cache-type-k and -cache-type-v, take a smaller quantization, or insist with -check-memory=false",
		size(need), size(e.Weights), e.Parallel, e.Context, size(e.Cache), size(e.Compute+e.Process), size(free))
}

// size is a number of bytes for people.
func size(n uint64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
