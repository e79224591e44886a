package route

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/config"
)

// dialect is a tiny protocol: the request is kept for the test, each line of
// the answer is text, and the end of the body is the end of the answer.
type dialect struct {
	traits adapters.Traits
	got    chan *llm.Request
}

func newDialect(t adapters.Traits) *dialect {
	t.Framing, t.EOFIsFinish = frame.Lines, true
	return &dialect{t, make(chan *llm.Request, 100)}
}

func (d *dialect) Traits() *adapters.Traits { return &d.traits }

func (d *dialect) Request(req *llm.Request) (adapters.Call, error) {
	d.got <- req
	return adapters.Call{Method: http.MethodPost, Path: "/gen", Body: []byte(req.Prompt.Text())}, nil
}

func (d *dialect) Decoder(*llm.Request) adapters.Decoder { return d }

func (*dialect) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	return append(dst, llm.Event{Text: fr.Data}), nil
}

// asking is a dialect whose backends are asked for their template.
type asking struct {
	*dialect
	asked  atomic.Int32
	answer func(ctx context.Context, ask adapters.Ask, model string) (adapters.Template, error)
}

func (a *asking) Template(ctx context.Context, ask adapters.Ask, model string) (adapters.Template, error) {
	a.asked.Add(1)
	return a.answer(ctx, ask, model)
}

// brackets is a template: it puts all text in brackets.
type brackets struct{}

func (brackets) Render(req *llm.Request) (adapters.Rendered, error) {
	made := adapters.Rendered{Stop: []string{"###", "</s>"}, StopTokenIDs: []int{2, 7}}
	for _, m := range req.Messages {
		made.Prompt = append(made.Prompt, llm.Piece{Text: "[", Special: true}, llm.Piece{Text: m.Content}, llm.Piece{Text: "]", Special: true})
	}
	return made, nil
}

func chat(text string) *llm.Request {
	return &llm.Request{Kind: llm.Chat, Model: "asked", N: 1, Messages: []llm.Message{{Role: "user", Content: text}}}
}

// one returns a table with one model m, served by b through the dialect a.
func one(t *testing.T, a adapters.Adapter, b config.Backend) *Table {
	t.Helper()
	b.Adapter = "it"
	if b.Model == "" {
		b.Model = "m"
	}
	if b.Timeout == (config.Timeout{}) {
		b.Timeout = config.Timeout{Connect: 5 * time.Second, First: 30 * time.Second, Idle: 30 * time.Second}
	}
	table, err := New(&config.Config{
		FrameLimit: 1 << 20,
		Adapters:   map[string]adapters.Adapter{"it": a},
		Models:     []config.Model{{Name: "m", Path: "models.m", Backends: []config.Backend{b}}},
	}, Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return table
}

func pick(t *testing.T, table *Table, name string) *Model {
	t.Helper()
	m, err := table.Pick(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// only returns the one backend of m itself.
func only(m *Model) *backend { return m.steps[0].backends[0] }

// serve starts a backend.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// text reads a stream to its end and closes it.
func text(t *testing.T, s stream.Source) string {
	t.Helper()
	defer s.Close()
	var out []byte
	for {
		events, err := s.Next(nil)
		for _, ev := range events {
			out = append(out, ev.Text...)
		}
		if errors.Is(err, io.EOF) {
			return string(out)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// asError returns err as what a client would see.
func asError(t *testing.T, err error) *llm.Error {
	t.Helper()
	e := (*llm.Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *llm.Error", err)
	}
	return e
}
