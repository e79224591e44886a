package server

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/openai"
)

// guard bounds everything that a test waits for; nothing takes so long.
const guard = 20 * time.Second

// plain is the adapter of the fake backends: a line is a piece of text, but
// "#stop" ends the answer and "#fail" is a failure that the backend reports.
type plain struct{}

func (plain) Traits() *adapters.Traits {
	return &adapters.Traits{Framing: frame.Lines, Messages: true, SingleChoice: true, Accepts: []string{"temperature"}}
}

func (plain) Request(req *llm.Request) (adapters.Call, error) {
	return adapters.Call{Method: http.MethodPost, Path: "/generate", Body: req.Raw}, nil
}

func (plain) Decoder(*llm.Request) adapters.Decoder { return plain{} }

func (plain) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	switch string(fr.Data) {
	case "":
		return dst, nil
	case "#stop":
		return append(dst, llm.Event{Finish: llm.FinishStop}), nil
	case "#fail":
		return dst, llm.Upstream(http.StatusBadGateway, "", "the backend gave up")
	case "#panic":
		panic("the adapter broke")
	}
	return append(dst, llm.Event{Text: fr.Data}), nil
}

// backend is a fake backend whose answers the test dictates.
type backend struct {
	begun chan *http.Request // a call has come, its header not yet answered
	lines chan string        // what it says next; closing it ends the answer
	gone  chan struct{}      // the gateway has left a call
}

func newBackend() *backend {
	return &backend{begun: make(chan *http.Request, 1000), lines: make(chan string, 1000), gone: make(chan struct{}, 1000)}
}

// says returns a backend that gives the same answer to every call.
func says(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, line := range lines {
			fmt.Fprintln(w, line)
		}
	}
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // else net/http does not notice that the caller leaves
	b.begun <- r
	for {
		select {
		case <-r.Context().Done():
			b.gone <- struct{}{}
			return
		case line, more := <-b.lines:
			if !more {
				return
			}
			if line == "#cut" {
				panic(http.ErrAbortHandler)
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				b.gone <- struct{}{}
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}

type fakeModel struct {
	name string
	up   *stream.Upstream
}

func (m *fakeModel) Name() string { return m.name }

func (m *fakeModel) Open(ctx context.Context, req *llm.Request) (stream.Source, error) {
	return stream.Open(ctx, m.up, plain{}, req)
}

func (m *fakeModel) Count(_ context.Context, prompt string) (int, int, error) {
	if prompt == "#fail" {
		return 0, 0, llm.Upstream(http.StatusBadGateway, "", "the backend gave up")
	}
	return len(prompt), 8, nil
}

func (*fakeModel) Embed(ctx context.Context, req *llm.EmbedRequest) (*llm.Embeddings, error) {
	made := &llm.Embeddings{PromptTokens: req.N}
	for _, text := range req.Texts {
		if text == "#wait" {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		made.Vectors = append(made.Vectors, []float32{float32(len(text)), 0.5})
	}
	return made, nil
}

type panicModel struct{}

func (panicModel) Name() string { return "panic" }

func (panicModel) Open(context.Context, *llm.Request) (stream.Source, error) {
	panic("no such thing")
}

func (panicModel) Embed(context.Context, *llm.EmbedRequest) (*llm.Embeddings, error) {
	panic("no such thing")
}

func (panicModel) Count(context.Context, string) (int, int, error) { panic("no such thing") }

// backends are the fake backends behind a gateway, by their model's name.
type backends map[string]http.Handler

// gateway is a server under test.
type gateway struct {
	t      *testing.T
	s      *Server
	addr   string
	models map[string]Model
	order  []string
	log    logBuffer
	served chan error
}

func (g *gateway) Pick(name string) (Model, error) {
	if m, ok := g.models[name]; ok {
		return m, nil
	}
	return nil, &llm.Error{Status: 404, Type: "invalid_request_error", Code: "model_not_found", Message: "no model " + name}
}

func (g *gateway) Models(context.Context) []openai.ModelInfo {
	var infos []openai.ModelInfo
	for _, name := range g.order {
		infos = append(infos, info(name))
	}
	return infos
}

func (g *gateway) Describe(_ context.Context, name string) (openai.ModelInfo, error) {
	_, err := g.Pick(name)
	return info(name), err
}

func info(name string) openai.ModelInfo {
	return openai.ModelInfo{ID: name, Created: 1700000000, OwnedBy: "test"}
}

// start serves the backends, by model name, until the test ends; on a listener
// that is changed as said.
func start(t *testing.T, o Options, fakes backends, change ...func(net.Listener) net.Listener) *gateway {
	t.Helper()
	g := &gateway{t: t, models: map[string]Model{"panic": panicModel{}}, served: make(chan error, 1)}
	client, err := stream.NewClient(stream.ClientOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, handler := range fakes {
		up := httptest.NewServer(handler)
		t.Cleanup(up.Close)
		g.models[name] = &fakeModel{name, &stream.Upstream{URL: up.URL, Client: client, First: guard, Idle: guard}}
		g.order = append(g.order, name)
	}
	t.Cleanup(client.CloseIdleConnections)
	o.Router = g
	o.Log = slog.New(slog.NewTextHandler(&g.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	g.s = New(o)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.addr = ln.Addr().String()
	for _, f := range change {
		ln = f(ln)
	}
	go func() { g.served <- g.s.Serve(ln) }()
	t.Cleanup(g.stop)
	return g
}

func (g *gateway) stop() {
	atOnce, cancel := context.WithCancel(context.Background())
	cancel()
	_ = g.s.Shutdown(atOnce)
	if err := <-g.served; err != nil {
		g.t.Errorf("Serve: %v", err)
	}
}

// hello is a gateway with one model that says Hello world.
func hello(t *testing.T, o Options) *gateway {
	return start(t, o, backends{"hello": says("Hello", " world", "#stop")})
}

func TestMain(m *testing.M) {
	code := m.Run()
	if left := leftovers(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines left over:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftovers returns the goroutines of ours that do not end.
func leftovers() string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	end := time.After(guard)
	for {
		left := ours()
		if left == "" {
			return ""
		}
		select {
		case <-tick.C:
		case <-end:
			return left
		}
	}
}

func ours() string {
	buf := make([]byte, 4<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var left []string
	for g := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(g, "dragoman/") && !strings.Contains(g, "TestMain") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}
