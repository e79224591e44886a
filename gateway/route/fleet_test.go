package route

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/config"
)

// fleet is a table of several backends with a clock that the test moves.
type fleet struct {
	t     *testing.T
	table *Table
	log   strings.Builder
	mu    sync.Mutex
	time  time.Time
}

// backends is a model named name; each backend that says nothing of its own
// speaks the dialect without tools.
func backends(name string, list ...config.Backend) config.Model {
	return config.Model{Name: name, Path: "models." + name, Backends: list}
}

// falls returns m with these fallbacks.
func falls(m config.Model, names ...string) config.Model {
	m.Fallback = names
	return m
}

func newFleet(t *testing.T, models ...config.Model) *fleet {
	t.Helper()
	f := &fleet{t: t, time: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	for _, m := range models {
		for i := range m.Backends {
			b := &m.Backends[i]
			if b.Adapter == "" {
				b.Adapter = "plain"
			}
			if b.Model == "" {
				b.Model = m.Name
			}
			if b.Timeout == (config.Timeout{}) {
				b.Timeout = config.Timeout{Connect: 5 * time.Second, First: 30 * time.Second, Idle: 30 * time.Second}
			}
		}
	}
	var err error
	f.table, err = New(&config.Config{
		FrameLimit: 1 << 20, Models: models,
		Adapters: map[string]adapters.Adapter{
			"plain":  newDialect(adapters.Traits{Messages: true}),
			"tools":  newDialect(adapters.Traits{Messages: true, Accepts: []string{"tools"}}),
			"both":   newDialect(adapters.Traits{Messages: true, Accepts: []string{"prompt"}}),
			"asked":  newDialect(askable()),
			"broken": broken{newDialect(adapters.Traits{Messages: true})},
		},
	}, Options{Log: slog.New(slog.NewTextHandler(&f.log, nil)), now: f.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.table.Close(context.Background()) })
	return f
}

// broken is an adapter that makes no request of anything.
type broken struct{ *dialect }

func (broken) Request(*llm.Request) (adapters.Call, error) {
	return adapters.Call{}, io.ErrShortBuffer
}

func (f *fleet) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.time
}

func (f *fleet) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.time = f.time.Add(d)
}

// open asks model m.
func (f *fleet) open() (stream.Source, error) {
	f.t.Helper()
	return pick(f.t, f.table, "m").Open(f.t.Context(), chat("hi"))
}

// want asks model m and fails the test unless the text is this one.
func (f *fleet) want(what string) {
	f.t.Helper()
	s, err := f.open()
	if err != nil {
		f.t.Errorf("got %v, want %q", err, what)
		return
	}
	if got := text(f.t, s); got != what {
		f.t.Errorf("got %q, want %q", got, what)
	}
}

// fails asks model m and returns the error.
func (f *fleet) fails() *llm.Error {
	f.t.Helper()
	s, err := f.open()
	if err == nil {
		f.t.Fatalf("got %q, want an error", text(f.t, s))
	}
	return asError(f.t, err)
}

// station is a backend whose behaviour changes.
type station struct {
	url   string
	mu    sync.Mutex
	asked int
	do    http.HandlerFunc
}

func newStation(t *testing.T, do http.HandlerFunc) *station {
	s := &station{}
	s.url = serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else net/http does not notice that the gateway leaves
		s.mu.Lock()
		s.asked++
		do := s.do
		s.mu.Unlock()
		do(w, r)
	})
	s.does(do)
	return s
}

func (s *station) does(do http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do = do
}

// was returns how often the station was asked since the last call.
func (s *station) was() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.asked
	s.asked = 0
	return n
}

func (s *station) backend() config.Backend { return config.Backend{URL: s.url} }

// status returns the behaviour of answering with a status.
func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"said %d"}}`, code)
	}
}

func hangsUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func isSilent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
