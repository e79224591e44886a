// Package llama runs GGUF models with llama.cpp, whose shared libraries it
// loads at run time, without cgo. It is the only package that touches the
// binding. Batching, sampling and HTTP are left to packages sched, sample and
// serve, whose interfaces Model fits.
//
// llama.cpp's memory layouts change between releases, and a library of another
// one may seem to work and yet compute nonsense: see Load.
package llama

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"dragoman/engine/gguf"
	"dragoman/engine/machine"
	"dragoman/engine/prompt"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// Options say how to run a model.
type Options struct {
	File     string // a GGUF file; of a split model the first part
	Context  int    // tokens for each sequence; 0 is the model's own, at most 4096
	Parallel int    // sequences
	Batch    int    // tokens in one Decode, at most
	Threads  int    // that compute; 0: as many as turn out best, see package crew

	Device    string // where to compute, one of Devices
	GPULayers int    // layers to put on a GPU, if Device has one; -1 is as many as it has room for

	CacheK, CacheV string // types of the sequences' memory, from gguf.CacheTypes
	FlashAttention string // one of FlashAttentions
	Rope           Rope

	Embeddings bool // open the model for embeddings; one that is for nothing else is so anyway

	AnySize bool // load the model even if it does not seem to fit into memory

	aside bool // have a memory aside
}

// Model is a loaded model with memory for Options.Parallel sequences. Decode,
// Logits, Forget and Embed must be called one at a time; the other methods are safe
// for concurrent use, also meanwhile.
type Model struct {
	model llama.Model
	ctx   llama.Context
	mem   llama.Memory
	vocab llama.Vocab
	batch llama.Batch

	gpus      []gpu // that hold layers
	threads   threads
	aside     *aside // nil: none
	maxBatch  int
	context   int
	pooling   gguf.Pooling // of a model that is open for embeddings, else NoPooling
	window    int          // tokens that some layers look back; 0: all
	vocabSize int
	suppress  []llama.Token // never to be sampled, says the model
	ends      []int32       // which end an answer

	specials   []prompt.Special
	specialIDs map[int32]string
	splitter   *prompt.Splitter
}

const (
	maxDefaultContext = 4096
	maxUbatch         = 512 // tokens that llama.cpp computes at once
)

// Open loads a model. Load must have succeeded before, and opt must have passed
// Options.Check. The error says what is wrong with the file, as far as it or
// llama.cpp tells, or with the device.
func Open(opt Options) (*Model, error) {
	estimate, err := NewEstimate(opt)
	if err != nil {
		return nil, err
	}
	info := estimate.Info
	opt.File = info.Files[0]
	gpus, err := choose(opt.Device, found())
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, whyNot(opt.Device))
	}
	return place(opt, gpus, estimate, func(gpus []gpu, layers int) (*Model, error) {
		if !opt.AnySize {
			if err := estimate.Fit(machine.Read(), ownMemory(gpus, layers)); err != nil {
				return nil, err
			}
		}
		opt.aside = layers == 0 && estimate.Aside > 0
		return load(opt, info, gpus, layers)
	})
}

// load loads a model with that many layers on the GPUs, if there are any.
func load(opt Options, info *gguf.Info, gpus []gpu, layers int) (*Model, error) {
	logged.reset()
	m := &Model{gpus: gpus}
	params := llama.ModelDefaultParams()
	params.NGpuLayers = int32(layers)
	devices := handles(gpus)
	params.Devices = uintptr(unsafe.Pointer(&devices[0]))
	defer runtime.KeepAlive(devices)
	var err error
	if m.model, err = llama.ModelLoadFromFile(opt.File, params); err != nil {
		return nil, orMemory(fmt.Errorf("loading %s (%s): %w", filepath.Base(opt.File), info.Architecture, logged.reason(err)))
	}
	if llama.ModelHasEncoder(m.model) || !llama.ModelHasDecoder(m.model) {
		m.Close()
		return nil, fmt.Errorf("%s (%s) is not a model that continues text", filepath.Base(opt.File), info.Architecture)
	}
	open := m.open
	if opt.embeds(info) {
		open = m.openEmbeddings
	}
	if err := open(opt, info); err != nil {
		m.Close()
		return nil, err
	}
	m.readVocab()
	return m, nil
}

// GPU names what computes beside the processor, "" for nothing.
func (m *Model) GPU() string { return joined(m.gpus) }

// contextSize is what was asked for, or else what the model was trained for,
// within reason: memory for it is taken at once, for every sequence.
func contextSize(asked, trained int) int {
	switch {
	case asked > 0:
		return asked
	case trained <= 0:
		return maxDefaultContext
	}
	return min(trained, maxDefaultContext)
}

// open makes the context, the sequences' memory and the batch.
func (m *Model) open(opt Options, info *gguf.Info) error {
	logged.reset()
	m.context = contextSize(opt.Context, int(llama.ModelNCtxTrain(m.model)))
	p := llama.ContextDefaultParams()
	p.NCtx = uint32(m.context * opt.Parallel)
	p.NSeqMax = uint32(opt.Parallel)
	p.NBatch = uint32(opt.Batch)
	p.NUbatch = min(p.NBatch, maxUbatch)
	p.NOutputsMax = uint32(opt.Parallel)
	contextParams(&p, opt, info)
	p.NoPerf = 1
	var err error
	if m.ctx, err = llama.InitFromModel(m.model, p); err != nil {
		return orMemory(fmt.Errorf("making room for %d sequences of %d tokens: %w", opt.Parallel, m.context, logged.reason(err)))
	}
	if m.mem, err = llama.GetMemory(m.ctx); err != nil || m.mem == 0 {
		return fmt.Errorf("%s keeps no memory of what it reads, so it cannot continue text", filepath.Base(opt.File))
	}
	m.window = int(llama.ModelNSWA(m.model))
	m.maxBatch = opt.Batch
	m.batch = makeBatch(opt.Batch)
	m.startThreads(opt, info)
	if opt.aside {
		m.openAside(p, opt.asideMemory(info).Cache)
	}
	return nil
}

// makeBatch makes room for n tokens, each of one sequence.
func makeBatch(n int) llama.Batch {
	b := llama.BatchInit(int32(n), 0, 1)
	for i := range n {
		unsafe.Slice(b.NSeqId, n)[i] = 1
	}
	return b
}

func (m *Model) startThreads(opt Options, info *gguf.Info) {
	if opt.Threads > 0 {
		m.threads.most = opt.Threads
		m.threads.crowd.full(1) // before there is anything to do; prompts are read aside by what it finds
		m.threads.set(m.ctx, opt.Threads)
	} else {
		m.threads.choose(m.ctx, info.Size)
	}
}

// Close frees the model. No other method may be running or called afterwards.
func (m *Model) Close() {
	m.aside.close()
	if m.batch.Token != nil {
		llama.BatchFree(m.batch)
	}
	if m.ctx != 0 {
		llama.Free(m.ctx)
	}
	m.threads.close()
	if m.model != 0 {
		llama.ModelFree(m.model)
	}
}

// Context returns how many tokens one sequence may hold.
func (m *Model) Context() int { return m.context }

// TrainedContext returns how many tokens the model was trained to hold.
func (m *Model) TrainedContext() int { return int(llama.ModelNCtxTrain(m.model)) }

// ChatTemplate returns the model's chat template in Jinja, or "".
func (m *Model) ChatTemplate() string { return llama.ModelChatTemplate(m.model, "") }

// errNoLibs is the cause when there is no llama.cpp to load.
var errNoLibs = errors.New("no such library")

// missing reports whether dir lacks the libraries altogether.
func missing(dir string) error {
	for _, name := range libraryNames {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("llama.cpp libraries not found in %s (%s: %w): run make build-engine, or name another folder with -lib or DRAGOMAN_LLAMA_LIB",
				dir, name, errNoLibs)
		}
	}
	return nil
}

// oneLine makes s fit for an error message.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
