package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"dragoman/engine/embed"
	"dragoman/engine/llama"
	"dragoman/engine/sched"
	"dragoman/engine/serve"
	"dragoman/engine/stories"
)

// builtin names the model that comes with the program.
const builtin = "builtin:stories"

// Bounds of the work in one step. A batch of 512 keeps any processor busy.
const (
	maxParallel = 256 // llama.cpp's own limit
	maxThreads  = 512 // likewise
	batchTokens = 512
)

// engine is a loaded model and those who serve it.
type engine struct {
	name    string
	context int
	model   *llama.Model
	sched   *sched.Scheduler          // nil: the model gives embeddings
	run     func(ctx context.Context) // the model's work, until ctx ends
	handler http.Handler
}

// open loads the libraries and the model.
func open(ctx context.Context, o options) (*engine, error) {
	llama.Verbose = o.verbose
	version, err := llama.Load(o.lib)
	var other *llama.VersionError
	if errors.As(err, &other) && !o.check {
		err = try(ctx, o, other)
	} else if other != nil {
		err = nil // this is the trial
	}
	if err != nil {
		return nil, err
	}
	file, name, err := modelFile(o.model)
	if err != nil {
		return nil, err
	}
	o.llama.File, o.llama.Batch = file, max(batchTokens, o.llama.Parallel)
	m, err := llama.Open(o.llama)
	if err != nil {
		return nil, err
	}
	bos, add := m.BOS()
	e := &engine{name: name, context: m.Context(), model: m}
	props := serve.Props{
		Model: name, Context: m.Context(), TrainContext: m.TrainedContext(),
		ChatTemplate: m.ChatTemplate(), BOSToken: m.Text(bos), EOSToken: m.Text(m.EOS()),
		AddBOS: add, BOS: bos, SpecialTokens: m.SpecialTexts(),
		Parallel: o.llama.Parallel, Llama: version, GPU: m.GPU(),
	}
	if m.Embeds() {
		return e, e.embeddings(props, o.queue)
	}
	e.sched = sched.New(m, sched.Options{
		Context: m.Context(), Parallel: o.llama.Parallel, Queue: o.queue,
		Batch: max(batchTokens, o.llama.Parallel), Aside: m.Aside(),
	})
	e.run, e.handler = e.sched.Run, serve.New(m, e.sched, props)
	return e, nil
}

// embeddings has the engine give embeddings.
func (e *engine) embeddings(props serve.Props, queue int) error {
	m := e.model
	before, after, err := m.Surroundings()
	if err != nil {
		return err
	}
	props.Parallel = llama.EmbedInputs
	props.Embeddings = &serve.Embeddings{Dimensions: m.Dimensions(), Pooling: m.Pooling(), Before: before, After: after}
	r := embed.New(m, embed.Options{Batch: m.MaxBatch(), Inputs: llama.EmbedInputs, Queue: queue})
	e.run, e.handler = r.Run, serve.NewEmbedder(m, r, props)
	return nil
}

// modelFile returns the file of a model and the name it goes by.
func modelFile(model string) (file, name string, err error) {
	if model != builtin {
		if strings.HasPrefix(model, "builtin:") {
			return "", "", fmt.Errorf("there is no %s; there is %s", model, builtin)
		}
		return model, strings.TrimSuffix(filepath.Base(model), ".gguf"), nil
	}
	cache, err := os.UserCacheDir()
	if err != nil { // no home: a service, say
		cache = os.TempDir()
	}
	file, err = stories.Path(filepath.Join(cache, "dragoman"))
	return file, "stories", err
}
