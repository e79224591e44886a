package route

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

// maxAttempts bounds what one request may cost the backends together.
const maxAttempts = 8

// Open starts the answer to req and returns with its first event. Until then
// other backends are asked if one fails: those of the same model, then those of
// its fallbacks. What a backend says is wrong with the request itself is not
// asked of another. Closing the stream frees what it held; ctx ends it at any
// time.
//
// An error is an *llm.Error, or the cause of ctx if that has ended. If everyone
// failed it is the failure of the model that was asked for.
func (m *Model) Open(ctx context.Context, req *llm.Request) (stream.Source, error) {
	a := &answering{req: req}
	if err := m.run(ctx, a); err != nil {
		return nil, err
	}
	return a.answer, nil
}

// errand is what a request wants of a backend.
type errand interface {
	// able returns nil, or the error for what b cannot do.
	able(b *backend) error
	// attempt asks b, a slot of which is taken and will be freed. It keeps the answer.
	attempt(ctx context.Context, b *backend, model string) error
	// usual reports whether every server of the kind has the route.
	usual() bool
}

// answering is the errand of a request for text.
type answering struct {
	req    *llm.Request
	answer stream.Source
}

func (a *answering) able(b *backend) error { return b.able(a.req) }

func (a *answering) attempt(ctx context.Context, b *backend, model string) (err error) {
	a.answer, err = b.open(ctx, a.req, model)
	return err
}

func (a *answering) usual() bool { return a.req.Kind == llm.Chat }

// run takes an errand from backend to backend until one has done it.
func (m *Model) run(ctx context.Context, e errand) error {
	w := &walk{model: m, errand: e, trace: traced(ctx)}
	var failure error
	for i, s := range m.steps {
		done, err := w.ask(ctx, s)
		switch {
		case done:
			return nil
		case ctx.Err() != nil:
			return cmp.Or(err, context.Cause(ctx))
		case i == 0 && refuses(err):
			return err
		case i == 0:
			failure = err
		}
	}
	if w.attempts == 0 {
		return w.lastResort(ctx, failure)
	}
	return w.final(failure)
}

// walk is the way of one request from backend to backend.
type walk struct {
	model    *Model
	errand   errand
	trace    *trace
	attempts int
}

// ask takes the request to the backends of one model. If it is not done then, the
// error is the most useful one: if all backends rest, why.
func (w *walk) ask(ctx context.Context, s step) (done bool, err error) {
	able, err := s.able(w.errand)
	if err != nil {
		return false, err
	}
	var failure error
	for len(able) > 0 && w.attempts < maxAttempts {
		b, err := w.take(ctx, s, able)
		if err != nil {
			return false, err
		}
		if b == nil {
			if failure == nil {
				failure = s.why(able)
			}
			if failure == nil {
				continue // one has come back just now
			}
			return false, failure
		}
		err = w.attempt(ctx, s, b)
		if err == nil {
			return true, nil
		}
		if ctx.Err() != nil || refuses(err) {
			return false, err
		}
		if failure == nil || unknown(failure) || waits(err) && !waits(failure) {
			failure = err
		}
		able = slices.DeleteFunc(able, func(other *backend) bool { return other == b })
	}
	return false, failure
}

// take returns the backend for the next attempt, a slot of it taken.
func (w *walk) take(ctx context.Context, s step, able []*backend) (*backend, error) {
	if w.model.alone() {
		return able[0], able[0].slots.acquire(ctx)
	}
	return s.take(ctx, able)
}

// attempt asks b, of which a slot is taken, and learns from what comes.
func (w *walk) attempt(ctx context.Context, s step, b *backend) error {
	w.attempts++
	n := w.trace.attempt(b.name)
	start := s.now()
	err := w.errand.attempt(ctx, b, s.wanted(b))
	if err == nil {
		b.health.good()
		return nil
	}
	if ctx.Err() != nil || refuses(err) || w.model.alone() {
		return err
	}
	attrs := []any{"backend", b.name, "attempt", n}
	if w.trace.id != "" {
		attrs = append(attrs, "id", w.trace.id)
	}
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		b.log.Warn("a backend could not be asked", append(attrs, "cause", err)...)
		return err
	}
	attrs = append(attrs, "status", e.Status, "error", e.Code)
	if e.Err != nil {
		attrs = append(attrs, "cause", e.Err)
	}
	if w.blames(ctx, s, b, e) {
		b.health.bad(start, s.now(), e)
		left, _, _ := b.health.rest(s.now())
		attrs = append(attrs, "rest", left.Round(time.Millisecond))
	}
	if b.log.Enabled(ctx, slog.LevelDebug) { // it may quote what the client said
		attrs = append(attrs, "message", e.Message)
	}
	b.log.Warn("a backend failed", attrs...)
	return err
}

// blames reports whether e says something about the backend, and not only about
// what this client brought with it: its own key, a model name that the
// configuration leaves to it, or a route that many servers do not have.
func (w *walk) blames(ctx context.Context, s step, b *backend, e *llm.Error) bool {
	switch {
	case unknown(e):
		return false // the controller answers, and may know the model soon
	case e.Code == "upstream_not_found":
		return !s.entry.Wildcard() && w.errand.usual()
	case e.Code == "upstream_auth", e.Status == http.StatusTooManyRequests:
		return !b.forwardAuth || authorization(ctx) == ""
	}
	return true
}

// lastResort is for when every backend rests; failure is why. One that rests
// because it failed is tried all the same, as that is better than to fail
// unasked. One that asked to be left alone is.
func (w *walk) lastResort(ctx context.Context, failure error) error {
	for i, s := range w.model.steps {
		able, _ := s.able(w.errand)
		b, _ := s.soonest(able, true)
		if b == nil {
			continue
		}
		if err := b.slots.acquire(ctx); err != nil {
			return err
		}
		b.health.force(s.now())
		err := w.attempt(ctx, s, b)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if i == 0 {
			failure = err
		}
		break
	}
	return w.final(failure)
}

// final makes the client's error of the failure of the model that was asked for:
// where waiting helps, it says for how long.
func (w *walk) final(failure error) error {
	e, ok := errors.AsType[*llm.Error](failure)
	if !ok || !waits(failure) || w.model.alone() {
		return failure
	}
	s := w.model.steps[0]
	able, _ := s.able(w.errand)
	b, left := s.soonest(able, false)
	if b == nil {
		return failure
	}
	told := *e
	told.RetryAfter = strconv.Itoa(max(1, int((left+time.Second-1)/time.Second)))
	return &told
}

// refuses reports whether err says that the request itself is at fault.
func refuses(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Status/100 == 4 && !waits(err) && !unknown(err)
}

// unknown reports whether err says that a controller does not know the model:
// another backend may.
func unknown(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Status == http.StatusNotFound
}

// waits reports whether err says that the same request may do later.
func waits(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable)
}
