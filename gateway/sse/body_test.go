package sse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dragoman/adapters/llm"
)

// say is one step of a fake backend: after waits, it says text or fails.
type say struct {
	after time.Duration
	text  string
	err   error
}

// fakeSource plays steps, obeying ctx.
type fakeSource struct {
	ctx    context.Context
	steps  []say
	closed int
}

func (f *fakeSource) Next(dst []llm.Event) ([]llm.Event, error) {
	if len(f.steps) == 0 {
		return dst, io.EOF
	}
	step := f.steps[0]
	f.steps = f.steps[1:]
	select {
	case <-time.After(step.after):
	case <-f.ctx.Done():
		return dst, f.ctx.Err()
	}
	switch {
	case step.text == "panic":
		panic("decoder broke")
	case step.err != nil:
		return dst, step.err
	}
	return append(dst, llm.Event{Text: []byte(step.text)}), nil
}

func (f *fakeSource) Usage() llm.Usage { return llm.Usage{Completion: 7, Has: true} }
func (f *fakeSource) Close() error     { f.closed++; return nil }

// words is an Encoder whose frames are words.
type words struct{}

func (words) AppendRole(dst []byte) []byte      { return append(dst, "role "...) }
func (words) AppendKeepAlive(dst []byte) []byte { return append(dst, "alive "...) }
func (words) AppendEvent(dst []byte, ev *llm.Event) []byte {
	return append(append(dst, ev.Text...), ' ')
}

func (words) AppendEnd(dst []byte, u llm.Usage) []byte {
	return fmt.Appendf(dst, "end(%d)", u.Completion)
}

func (words) AppendError(dst []byte, err error) []byte {
	return fmt.Appendf(dst, "error(%s)", err)
}

// run streams what opens after opening and then plays steps. It returns what the
// client saw, each write marked with the second it came in, and the result.
func run(t *testing.T, opening time.Duration, openErr error, steps ...say) (wire string, res Result, startErr error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		src := &fakeSource{steps: steps}
		body, err := Start(t.Context(), Options{
			Open: func(ctx context.Context) (Source, error) {
				select {
				case <-time.After(opening):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
				src.ctx = ctx
				return src, openErr
			},
			Encoder:     words{},
			CommitAfter: 10 * time.Second,
			KeepAlive:   15 * time.Second,
			Done:        func(r Result) { res = r },
		})
		if err != nil {
			startErr = err
			return
		}
		w := &clockedWriter{start: time.Now()}
		if _, err := body.WriteTo(w); err != nil {
			t.Errorf("WriteTo: %v", err)
		}
		_ = body.Close()
		_ = body.Close()
		wire = w.b.String()
		if openErr == nil && src.closed != 1 {
			t.Errorf("source closed %d times", src.closed)
		}
	})
	return wire, res, startErr
}

// clockedWriter notes when each write came.
type clockedWriter struct {
	start time.Time
	b     strings.Builder
	err   error
}

func (w *clockedWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	fmt.Fprintf(&w.b, "[%ds] %s\n", int(time.Since(w.start).Seconds()), strings.TrimSpace(string(p)))
	return len(p), nil
}

func want(t *testing.T, got string, lines ...string) {
	t.Helper()
	if w := strings.Join(lines, "\n") + "\n"; got != w {
		t.Errorf("the client saw\n%swant\n%s", got, w)
	}
}

func TestAnswer(t *testing.T) {
	wire, res, err := run(t, time.Second, nil, say{text: "a"}, say{after: 2 * time.Second, text: "b"})
	if err != nil || res.Err != nil {
		t.Fatal(err, res.Err)
	}
	want(t, wire, "[0s] a", "[2s] b", "[2s] end(7)")
	if res.Bytes != int64(len("a b end(7)")) {
		t.Errorf("counted %d bytes", res.Bytes)
	}
}

func TestErrorBeforeTheCommitIsReturned(t *testing.T) {
	boom := errors.New("boom")
	if _, _, err := run(t, 9*time.Second, boom); !errors.Is(err, boom) {
		t.Errorf("Start gave %v", err)
	}
}

func TestSilentBackendIsCommittedAndKeptAlive(t *testing.T) {
	wire, _, _ := run(t, 45*time.Second, nil, say{text: "a"}, say{after: 20 * time.Second, text: "b"})
	// The clock of the client starts at the commit, 10 s after the request.
	want(t, wire, "[0s] role", "[15s] alive", "[30s] alive", "[35s] a", "[50s] alive", "[55s] b", "[55s] end(7)")
}

func TestErrorAfterTheCommitIsAFrame(t *testing.T) {
	wire, res, err := run(t, 12*time.Second, errors.New("boom"))
	if err != nil {
		t.Fatal(err)
	}
	want(t, wire, "[0s] role", "[2s] error(boom)")
	if res.Err == nil || !res.First.IsZero() {
		t.Errorf("result %+v", res)
	}
}

func TestErrorInTheMiddle(t *testing.T) {
	wire, res, _ := run(t, 0, nil, say{text: "a"}, say{err: errors.New("cut")})
	want(t, wire, "[0s] a", "[0s] error(cut)")
	if res.Err == nil {
		t.Error("no error in the result")
	}
}

func TestPanicIsAFrame(t *testing.T) {
	wire, res, _ := run(t, 0, nil, say{text: "a"}, say{text: "panic"})
	want(t, wire, "[0s] a", "[0s] error(panic: decoder broke)")
	var p *PanicError
	if !errors.As(res.Err, &p) || !strings.Contains(string(p.Stack), "body_test.go") {
		t.Errorf("the result does not say where: %v", res.Err)
	}
}

func TestSilentFirstEventGetsItsRoleFirst(t *testing.T) {
	wire, _, _ := run(t, 0, nil, say{after: 40 * time.Second, text: "a"})
	want(t, wire, "[15s] role", "[30s] alive", "[40s] a", "[40s] end(7)")
}

func TestClientGoneBeforeTheFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(ErrGone) })
		src := &fakeSource{}
		begun := time.Now()
		_, err := Start(ctx, Options{
			Open: func(ctx context.Context) (Source, error) {
				<-ctx.Done()
				return src, nil // opened at the very moment
			},
			Encoder:     words{},
			CommitAfter: time.Minute,
			Explain:     func(error) error { return context.Cause(ctx) },
		})
		if !errors.Is(err, ErrGone) || time.Since(begun) != 3*time.Second || src.closed != 1 {
			t.Errorf("got %v after %v, source closed %d times", err, time.Since(begun), src.closed)
		}
	})
}

func TestFailedWriteFreesTheBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var res Result
		src := &fakeSource{steps: []say{{after: time.Hour, text: "never"}}}
		body, err := Start(t.Context(), Options{
			Open:        func(ctx context.Context) (Source, error) { src.ctx = ctx; return src, nil },
			Encoder:     words{},
			CommitAfter: time.Second,
			KeepAlive:   15 * time.Second,
			Done:        func(r Result) { res = r },
		})
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		_, err = body.WriteTo(&clockedWriter{err: io.ErrClosedPipe})
		_ = body.Close()
		if !errors.Is(err, ErrGone) || !errors.Is(err, io.ErrClosedPipe) || !errors.Is(res.Err, ErrGone) {
			t.Errorf("WriteTo gave %v, result %v", err, res.Err)
		}
		if took := time.Since(begun); took != 15*time.Second {
			t.Errorf("freed after %v: the first keep-alive should have told", took)
		}
	})
}

func TestBodyNeverWrittenIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var res Result
		body, err := Start(t.Context(), Options{
			Open:        func(ctx context.Context) (Source, error) { <-ctx.Done(); return nil, ctx.Err() },
			Encoder:     words{},
			CommitAfter: time.Second,
			Done:        func(r Result) { res = r },
		})
		if err != nil {
			t.Fatal(err)
		}
		_ = body.Close()
		if !errors.Is(res.Err, ErrGone) {
			t.Errorf("result %v", res.Err)
		}
	})
}

// endless is a Source that always has an event.
type endless struct{ left int }

func (e *endless) Next(dst []llm.Event) ([]llm.Event, error) {
	if e.left--; e.left < 0 {
		return dst, io.EOF
	}
	return append(dst, llm.Event{Text: []byte(nil)}), nil
}

func (*endless) Usage() llm.Usage { return llm.Usage{} }
func (*endless) Close() error     { return nil }

func TestFramesDoNotAllocate(t *testing.T) {
	allocs := func(events int) float64 {
		return testing.AllocsPerRun(10, func() {
			body, err := Start(context.Background(), Options{
				Open:        func(context.Context) (Source, error) { return &endless{events}, nil },
				Encoder:     words{},
				CommitAfter: time.Minute,
				KeepAlive:   time.Minute,
			})
			if err != nil {
				t.Fatal(err)
			}
			_, _ = body.WriteTo(io.Discard)
			_ = body.Close()
		})
	}
	if few, many := allocs(10), allocs(1010); many-few > 10 {
		t.Errorf("1000 more events cost %.0f more allocations", many-few)
	}
}
