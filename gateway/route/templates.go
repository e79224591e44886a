package route

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

const (
	// askTimeout bounds one question for a template, however long its askers wait.
	askTimeout = 30 * time.Second
	// maxTemplates bounds the cache: with wildcards, clients choose the names.
	maxTemplates = 64
)

// served is a model as one server has it: servers that a controller names are not
// all alike.
type served struct{ url, model string }

// templates holds the chat templates that one backend was asked for.
// Askers of the same model at the same time share one question, which no single
// one of them can call off.
type templates struct {
	ctx       context.Context // ends with the table
	templater adapters.Templater
	mu        sync.Mutex
	answers   map[served]*answer
	running   sync.WaitGroup
}

type answer struct {
	done     chan struct{} // closed when the rest is set
	template adapters.Template
	err      error
}

// get returns the template of s, asking the backend if need be.
func (t *templates) get(ctx context.Context, ask adapters.Ask, s served) (adapters.Template, error) {
	a := t.find(ask, s)
	select {
	case <-a.done:
		return a.template, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (t *templates) find(ask adapters.Ask, s served) *answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.answers[s]; a != nil {
		return a
	}
	if t.answers == nil {
		t.answers = map[served]*answer{}
	}
	if len(t.answers) >= maxTemplates {
		clear(t.answers)
	}
	a := &answer{done: make(chan struct{})}
	t.answers[s] = a
	t.running.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, askTimeout)
		defer cancel()
		defer close(a.done)
		a.template, a.err = t.templater.Template(ctx, ask, s.model)
		if a.err != nil {
			a.err = askFailed(a.err)
			t.forget(s, a)
		}
	})
	return a
}

// forget drops a, so that the next asker asks again.
func (t *templates) forget(s served, a *answer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers[s] == a {
		delete(t.answers, s)
	}
}

// drop forgets what the server at url said: it was lost, and may come back as
// another.
func (t *templates) drop(url string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.answers, func(s served, _ *answer) bool { return s.url == url })
}

// askFailed returns an error that a client can be told: what an adapter says of
// a template, such as that the configuration must name one.
func askFailed(err error) error {
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		return err
	}
	e := llm.Upstream(http.StatusBadGateway, "", "The backend's chat template cannot be used: %s", oneLine(adapters.Clip(err.Error(), maxWords)))
	if errors.Is(err, context.DeadlineExceeded) {
		e = llm.Upstream(http.StatusGatewayTimeout, "", "The backend did not give its chat template in time.")
	}
	e.Err = err
	return e
}
