package route

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/gateway/config"
)

// process is an engine of which only the address matters.
type process struct {
	address string
	err     error
	users   atomic.Int32
	closed  bool
}

func (p *process) Acquire(context.Context) (string, func(), error) {
	if p.err != nil {
		return "", nil, p.err
	}
	p.users.Add(1)
	return p.address, func() { p.users.Add(-1) }, nil
}

func (p *process) Close(context.Context) error {
	p.closed = true
	return nil
}

// engineTable returns a table with one model m that p serves.
func engineTable(t *testing.T, a adapters.Adapter, p *process) *Table {
	t.Helper()
	table, err := New(&config.Config{
		FrameLimit: 1 << 20,
		Adapters:   map[string]adapters.Adapter{"native": a},
		Models: []config.Model{{Name: "m", Path: "models.m", Backends: []config.Backend{{
			Adapter: "native", Model: "m", Engine: &config.Engine{Model: "builtin:stories"},
		}}}},
	}, Options{engine: func(e *config.Engine) engine {
		if e.Model != "builtin:stories" {
			t.Errorf("an engine for %q", e.Model)
		}
		return p
	}})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestEngineIsHeldWhileItStreams(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "e.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: says("once\n")}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	tcp := serve(t, says("upon\n"))

	p := &process{address: "unix:" + socket}
	table := engineTable(t, newDialect(adapters.Traits{Messages: true}), p)
	f := func(want string) {
		t.Helper()
		s, err := pick(t, table, "m").Open(t.Context(), chat("hi"))
		if err != nil {
			t.Fatal(err)
		}
		if n := p.users.Load(); n != 1 {
			t.Errorf("%d hold the engine while it streams", n)
		}
		if got := text(t, s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if n := p.users.Load(); n != 0 {
			t.Errorf("%d hold the engine afterwards", n)
		}
	}
	f("once")
	f("once")
	p.address = strings.TrimPrefix(tcp, "http://") // it was restarted elsewhere
	f("upon")
	if err := table.Close(t.Context()); err != nil || !p.closed {
		t.Errorf("closed %v: %v", p.closed, err)
	}
}

func TestEngineIsFreedWhenTheRequestFails(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	p := &process{address: strings.TrimPrefix(url, "http://")}
	a := &asking{dialect: newDialect(adapters.Traits{}), answer: func(context.Context, adapters.Ask, string) (adapters.Template, error) {
		return nil, errors.New("no template")
	}}
	table := engineTable(t, a, p)
	defer table.Close(t.Context())
	if _, err := pick(t, table, "m").Open(t.Context(), chat("hi")); err == nil {
		t.Error("no error")
	}
	completion := chat("")
	completion.Kind, completion.Prompt = llm.Completion, llm.Prompt{{Text: "once"}}
	if _, err := pick(t, table, "m").Open(t.Context(), completion); err == nil {
		t.Error("no error")
	}
	if n := p.users.Load(); n != 0 {
		t.Errorf("%d still hold the engine", n)
	}
}

func TestEngineThatDoesNotStart(t *testing.T) {
	p := &process{err: errors.New("the engine ended: exit status 2\n" + strings.Repeat("noise\n", 500) + "libffi.so.8: cannot open\x1b[0m\n")}
	table := engineTable(t, newDialect(adapters.Traits{Messages: true}), p)
	defer table.Close(t.Context())
	_, err := pick(t, table, "m").Open(t.Context(), chat("hi"))
	e := asError(t, err)
	if e.Status != 503 || e.Type != "server_error" || e.Code != "model_not_loaded" {
		t.Errorf("got %+v", e)
	}
	if !strings.Contains(e.Message, "libffi.so.8: cannot open") || len(e.Message) > 700 || strings.ContainsAny(e.Message, "\x1b\n") {
		t.Errorf("got %q", e.Message)
	}
	p.err = context.Canceled
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := pick(t, table, "m").Open(ctx, chat("hi")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestGatewayWithoutAnEngine: the program is not there, which the log says at the
// start and the answer later. Where it should be is for the log alone.
func TestGatewayWithoutAnEngine(t *testing.T) {
	var log bytes.Buffer
	program := filepath.Join(t.TempDir(), "with space", "dragoman-engine")
	engine := []config.Backend{{Adapter: "native", Engine: &config.Engine{Model: "builtin:stories"}}}
	table, err := New(&config.Config{
		Adapters: map[string]adapters.Adapter{"native": newDialect(adapters.Traits{Messages: true})},
		Models:   []config.Model{{Name: "m", Path: "models.m", Backends: engine}, {Name: "n", Path: "models.n", Backends: engine}},
	}, Options{EngineBinary: program, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), program) {
		t.Errorf("the log says %q", log.String())
	}
	_, err = pick(t, table, "m").Open(t.Context(), chat("hi"))
	e := asError(t, err)
	if e.Status != 503 || e.Code != "model_not_loaded" || !strings.Contains(e.Message, "not there: dragoman-engine (") {
		t.Errorf("got %+v", e)
	}
	if strings.Contains(e.Message, filepath.Dir(program)) || !strings.Contains(e.Err.Error(), program) {
		t.Errorf("the client is told %q, the log %q", e.Message, e.Err)
	}
	if err := table.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWithoutFolders(t *testing.T) {
	f := func(s, want string, known ...string) {
		t.Helper()
		if got := withoutFolders(s, known...); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
	f("the engine for /home/me/m.gguf did not start: open '/home/me/m.gguf': no such file", "the engine for m.gguf did not start: open 'm.gguf': no such file")
	f("opening /my models/m.gguf: no", "opening m.gguf: no", "/my models/m.gguf")
	f(`running C:\dragoman\engine.exe, lib=/usr/lib/x86_64-linux-gnu/libffi.so.8`, "running engine.exe, lib=libffi.so.8")
	f("1/2 and/or http://h/a/b m/s /x", "1/2 and/or http://h/a/b m/s /x", "builtin:stories", "")
}

func TestEngineArgs(t *testing.T) {
	f := func(cfg config.Engine, want ...string) {
		t.Helper()
		if got := engineArgs(&cfg); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(config.Engine{})
	f(config.Engine{Ctx: 512, Parallel: 4, Threads: 2}, "-ctx", "512", "-parallel", "4", "-threads", "2")
	f(config.Engine{Device: "vulkan", GPULayers: "20"}, "-device", "vulkan", "-gpu-layers", "20")
	f(config.Engine{CacheTypeK: "q8_0", CacheTypeV: "q4_0", FlashAttention: "on"},
		"-cache-type-k", "q8_0", "-cache-type-v", "q4_0", "-flash-attention", "on")
	f(config.Engine{RopeScaling: "yarn", RopeFreqBase: 1e6, RopeFreqScale: 0.25},
		"-rope-scaling", "yarn", "-rope-freq-base", "1e+06", "-rope-freq-scale", "0.25")
}
