package route

import (
	"context"
	"sync"
)

type traceKey struct{}

// trace is what becomes of one request.
type trace struct {
	id       string
	mu       sync.Mutex
	backend  string
	attempts int
}

// WithTrace returns a ctx under which Open notes what it does for the request
// id, and a function that tells: the backend that was asked last, by its place in
// the configuration ("" if none was), and how many attempts there were.
func WithTrace(ctx context.Context, id string) (context.Context, func() (backend string, attempts int)) {
	t := &trace{id: id}
	return context.WithValue(ctx, traceKey{}, t), func() (string, int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.backend, t.attempts
	}
}

// traced returns the trace that ctx carries, or one that nobody reads.
func traced(ctx context.Context) *trace {
	if t, ok := ctx.Value(traceKey{}).(*trace); ok {
		return t
	}
	return &trace{}
}

// attempt notes an attempt at the named backend and returns its number.
func (t *trace) attempt(backend string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.backend = backend
	t.attempts++
	return t.attempts
}
