package stream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"dragoman/adapters/llm"
)

// talker is a backend that answers at once with a body that the test writes. A
// cancelled call breaks the body off, as a transport does.
func talker(t *testing.T) (up *Upstream, say func(string), hangUp func(error)) {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	up = answering(nil)
	up.Client = &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		context.AfterFunc(req.Context(), func() { w.CloseWithError(req.Context().Err()) })
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: r}, nil
	})}
	return up, func(s string) { go io.WriteString(w, s) }, func(err error) { w.CloseWithError(err) }
}

func wantStatus(t *testing.T, err error, status int) {
	t.Helper()
	if e := (*llm.Error)(nil); !errors.As(err, &e) || e.Status != status {
		t.Errorf("got %v, want status %d", err, status)
	}
}

func next(t *testing.T, s *Stream) []llm.Event {
	t.Helper()
	events, err := s.Next(nil)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestFirstEventTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say, _ := talker(t)
		up.First, up.Idle = time.Minute, time.Second
		say("\n\n") // bytes are not yet an event
		begin := time.Now()
		_, err := Open(t.Context(), up, deltas, &llm.Request{})
		wantStatus(t, err, http.StatusGatewayTimeout)
		if waited := time.Since(begin); waited != time.Minute {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestHeadersTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := answering(nil)
		up.First = time.Minute
		up.Client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		_, err := Open(t.Context(), up, deltas, &llm.Request{})
		wantStatus(t, err, http.StatusGatewayTimeout)
		_, err = Asker(up)(t.Context(), deltas.call())
		wantStatus(t, err, http.StatusGatewayTimeout)
		// A limit that the caller's context brings is a time-out too.
		up.First = 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = Open(ctx, up, deltas, &llm.Request{})
		wantStatus(t, err, http.StatusGatewayTimeout)
	})
}

func TestSilenceBetweenEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say, _ := talker(t)
		up.First, up.Idle = time.Minute, 10*time.Second
		say(lines(`{"t":"a"}`))
		s, err := Open(t.Context(), up, deltas, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		next(t, s)
		for range 5 { // any byte shows that the backend is alive
			say("\n")
			time.AfterFunc(9*time.Second, func() { say("\n") })
			time.AfterFunc(18*time.Second, func() { say(lines(`{"t":"b"}`)) })
			next(t, s)
			<-time.After(time.Hour) // the caller's time is not the backend's
		}
		begin := time.Now()
		_, err = s.Next(nil)
		wantStatus(t, err, http.StatusGatewayTimeout)
		if waited := time.Since(begin); waited != 10*time.Second {
			t.Errorf("waited %v", waited)
		}
	})
}

// Usage may come after the last finish, for a second.
func TestReadOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say, _ := talker(t)
		up.Idle = 10 * time.Millisecond
		say(lines(`{"t":"a"}`, `{"f":"stop"}`))
		s, err := Open(t.Context(), up, deltas, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		next(t, s)
		next(t, s) // the finish waits for nothing
		begin := time.Now()
		time.AfterFunc(900*time.Millisecond, func() { say(lines(`{"p":7,"c":9}`)) })
		if events, err := s.Next(nil); err != io.EOF || len(events) > 0 {
			t.Errorf("got %v, %v", events, err)
		}
		if waited := time.Since(begin); waited != time.Second {
			t.Errorf("waited %v", waited)
		}
		if got, want := s.Usage(), (llm.Usage{Prompt: 7, Completion: 9, Has: true}); got != want {
			t.Errorf("usage %+v", got)
		}
	})
}

// After a stop string the backend would talk on: it is hung up on at once.
func TestStopHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say, _ := talker(t)
		say("one##two")
		s, err := Open(t.Context(), up, plain, &llm.Request{Stop: []string{"##"}})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if ev := next(t, s); string(ev[0].Text) != "one" || ev[0].Finish != llm.FinishStop {
			t.Errorf("got %+v", ev)
		}
		if s.ctx.Err() == nil {
			t.Error("the call goes on")
		}
		if _, err := s.Next(nil); err != io.EOF {
			t.Error(err)
		}
		s.Close()
		if waited := time.Since(begin); waited != 0 {
			t.Errorf("waited %v", waited)
		}
	})
}

// A cancelled context ends a waiting Next and Open, with the context's cause.
func TestCancel(t *testing.T) {
	gone := errors.New("the client has gone")
	synctest.Test(t, func(t *testing.T) {
		up, say, _ := talker(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		say(lines(`{"t":"a"}`))
		s, err := Open(ctx, up, deltas, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		next(t, s)
		time.AfterFunc(time.Minute, func() { cancel(gone) })
		if _, err := s.Next(nil); !errors.Is(err, gone) {
			t.Errorf("Next: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		up, _, _ := talker(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(gone) })
		if _, err := Open(ctx, up, deltas, &llm.Request{}); !errors.Is(err, gone) {
			t.Errorf("Open: %v", err)
		}
	})
}

func TestCloseFreesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say, _ := talker(t)
		say(lines(`{"t":"a"}`))
		s, err := Open(t.Context(), up, deltas, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		freed := 0
		s.OnClose(func() { freed++ })
		s.Close()
		s.Close()
		if freed != 1 || s.ctx.Err() == nil {
			t.Errorf("freed %d times, context %v", freed, s.ctx.Err())
		}
	})
}

// The end mark ends the answer at once; only Close waits, a moment, for the
// end of the body, so that the connection can be used again.
func TestEndMarkWithoutAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say, _ := talker(t)
		say(sse(`{"t":"a","f":"stop"}`, "[DONE]"))
		s, err := Open(t.Context(), up, events, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		next(t, s)
		if _, err := s.Next(nil); err != io.EOF || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		s.Close()
		if waited := time.Since(begin); waited != drain {
			t.Errorf("Close waited %v", waited)
		}
	})
}
