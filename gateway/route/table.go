package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"dragoman/adapters/llm"
	"dragoman/gateway/config"
	"dragoman/gateway/managed"
	"dragoman/gateway/openai"
)

// Options are what a Table needs beyond the configuration.
type Options struct {
	Log          *slog.Logger // nil: slog.Default()
	EngineBinary string       // the engine program; "": dragoman-engine beside this program
	EngineLib    string       // folder of llama.cpp's libraries; "": the engine's own choice

	memory *managed.Memory             // that all engines share; set by New
	engine func(*config.Engine) engine // for tests, as is
	now    func() time.Time
}

// Table knows all models of one configuration. It is safe for concurrent use.
type Table struct {
	exact     map[string]*Model  // names and aliases
	wildcards []wildcard         // longest prefix first
	groups    []*group           // in the order of the configuration
	made      int64              // when, in seconds since 1970
	stop      context.CancelFunc // ends what backends are being asked for
}

type wildcard struct {
	prefix string
	model  *Model
}

// New builds adapters, clients and chat templates for c. It calls no backend
// and starts no engine; what it cannot build is an error that names the place in
// the configuration.
func New(c *config.Config, o Options) (*Table, error) {
	o.Log = cmp.Or(o.Log, slog.Default())
	if o.now == nil {
		o.now = time.Now
	}
	o.memory = managed.NewMemory(uint64(c.EngineMemory))
	ctx, stop := context.WithCancel(context.Background())
	t := &Table{exact: map[string]*Model{}, stop: stop, made: time.Now().Unix()}
	var errs []error
	models := make([]*Model, len(c.Models))
	for i := range c.Models {
		g, err := newGroup(ctx, c, &c.Models[i], o)
		if err != nil {
			errs = append(errs, err)
		}
		t.groups = append(t.groups, g)
		models[i] = &Model{steps: []step{{group: g}}}
		t.add(g.entry, models[i])
	}
	slices.SortFunc(t.wildcards, func(a, b wildcard) int { return cmp.Compare(len(b.prefix), len(a.prefix)) })
	for _, m := range models {
		if err := t.follow(m, m.steps[0].entry); err != nil {
			errs = append(errs, err)
		}
	}
	warnOfEngine(c, o)
	if len(errs) > 0 {
		_ = t.Close(ctx)
		return nil, errors.Join(errs...)
	}
	return t, nil
}

// follow appends to m the fallbacks of entry, each followed by its own.
func (t *Table) follow(m *Model, entry *config.Model) error {
	for _, name := range entry.Fallback {
		next, err := t.Pick(name)
		if err != nil {
			return fmt.Errorf("%s.fallback: no model %q", entry.Path, name)
		}
		s := next.steps[0]
		if slices.Contains(m.steps, s) {
			continue
		}
		m.steps = append(m.steps, s)
		if err := t.follow(m, s.entry); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) add(entry *config.Model, m *Model) {
	if entry.Wildcard() {
		t.wildcards = append(t.wildcards, wildcard{strings.TrimSuffix(entry.Name, "*"), m})
		return
	}
	for _, name := range append([]string{entry.Name}, entry.Aliases...) {
		t.exact[name] = m
	}
}

// Pick returns the model that name means: by its name or alias, else by the
// longest matching wildcard. The error is an *llm.Error with status 404 and
// code model_not_found.
func (t *Table) Pick(name string) (*Model, error) {
	if m, ok := t.exact[name]; ok {
		return m, nil
	}
	for _, w := range t.wildcards {
		if star, ok := strings.CutPrefix(name, w.prefix); ok && star != "" {
			m := &Model{steps: slices.Clone(w.model.steps)}
			m.steps[0].star = star
			return m, nil
		}
	}
	return nil, notFound(name)
}

func notFound(name string) *llm.Error {
	return &llm.Error{
		Status: http.StatusNotFound, Type: "invalid_request_error", Code: "model_not_found", Param: "model",
		Message: "The model " + openai.Quote(name) + " does not exist. GET /v1/models lists those that do.",
	}
}

// Close stops engines, ends questions to backends, and closes idle connections.
// Streams must be closed before. ctx bounds the wait for engines to end.
func (t *Table) Close(ctx context.Context) error {
	t.stop()
	var errs []error
	for _, g := range t.groups {
		for _, b := range g.backends {
			errs = append(errs, b.close(ctx))
		}
	}
	return errors.Join(errs...)
}

// Model is what a request's model name stands for. It is safe for concurrent use.
type Model struct {
	steps []step // the model itself, then its fallbacks
}

// Name returns the name of the configuration's entry, for logs.
func (m *Model) Name() string { return m.steps[0].entry.Name }

// alone reports whether there is one backend only: then nothing is to choose, and
// what it says is passed on as it is.
func (m *Model) alone() bool { return len(m.steps) == 1 && len(m.steps[0].backends) == 1 }
