package enginetest

import (
	"context"
	"net/http/httptest"
	"testing"

	"dragoman/engine/embed"
	"dragoman/engine/fakellama"
	"dragoman/engine/serve"
)

// NewEmbedder is New for an engine that gives embeddings: those of m.Embed, whose
// inputs have a BOS before them and an EOS after. Batches have up to Context tokens
// and up to Parallel inputs.
func NewEmbedder(t testing.TB, m *fakellama.Model, o Options) *httptest.Server {
	t.Helper()
	o = o.withDefaults()
	p := Props(o)
	p.Embeddings = &serve.Embeddings{Dimensions: 3, Pooling: "mean", Before: []int32{fakellama.BOS}, After: []int32{fakellama.EOS}}
	r := embed.New(m, embed.Options{Batch: o.Context, Inputs: o.Parallel, Queue: o.Queue})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	srv := httptest.NewServer(serve.NewEmbedder(m, r, p))
	t.Cleanup(func() {
		cancel()
		<-done
		srv.Close()
	})
	return srv
}
