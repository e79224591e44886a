// Package enginetest starts a whole engine inside a test, with its real
// scheduler and HTTP face and a fake model, so that its clients can be tested
// without llama.cpp.
package enginetest

import (
	"context"
	"net/http/httptest"
	"testing"

	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
	"dragoman/engine/serve"
)

// Options say what the engine is like. Zero values get the defaults in brackets.
type Options struct {
	Context  int  // tokens for one request [4096]; a token is a byte
	Parallel int  // requests at once [4]
	Queue    int  // requests that may wait [64]
	NoBOS    bool // the model wants no BOS before prompts

	ChatTemplate string // [fakellama.ChatTemplate]
}

// New starts an engine that runs m, and returns its server; the test's end
// stops it. What the engine says: see PROTOCOL.md. Set m.Reply to choose the
// answers:
//
//	m := &fakellama.Model{Reply: func(prompt string) string { return "Hello." }}
//	url := enginetest.New(t, m, enginetest.Options{}).URL
func New(t testing.TB, m *fakellama.Model, o Options) *httptest.Server {
	t.Helper()
	o = o.withDefaults()
	s := sched.New(m, sched.Options{Context: o.Context, Parallel: o.Parallel, Queue: o.Queue, Batch: 64 + o.Parallel})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	props := Props(o)
	props.SpecialTokens = append(props.SpecialTokens, m.Control...)
	srv := httptest.NewServer(serve.New(m, s, props))
	t.Cleanup(func() {
		cancel()
		<-done
		srv.Close()
	})
	return srv
}

func (o Options) withDefaults() Options {
	if o.Context == 0 {
		o.Context = 4096
	}
	if o.Parallel == 0 {
		o.Parallel = 4
	}
	if o.ChatTemplate == "" {
		o.ChatTemplate = fakellama.ChatTemplate
	}
	if o.Queue == 0 {
		o.Queue = 64
	}
	return o
}

// Props is what such an engine's /props tells.
func Props(o Options) serve.Props {
	o = o.withDefaults()
	p := serve.Props{
		Protocol: serve.Protocol, Model: "fake", Context: o.Context, TrainContext: o.Context,
		ChatTemplate: o.ChatTemplate, BOSToken: "<s>", EOSToken: "</s>", AddBOS: !o.NoBOS, BOS: fakellama.BOS,
		Parallel: o.Parallel, Llama: "fake",
	}
	for _, s := range fakellama.Specials {
		p.SpecialTokens = append(p.SpecialTokens, s.Text)
	}
	return p
}
