package stream

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream/wstest"
)

// speaker is a backend that agrees to a WebSocket on which the test says bytes.
// Nothing but closing the connection ends a read.
func speaker(t *testing.T) (up *Upstream, say func(string)) {
	r, w := io.Pipe()
	t.Cleanup(func() { r.Close() })
	up = answering(nil)
	up.Client = &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		return wstest.Answer(req, struct {
			io.ReadCloser
			io.Writer
		}{r, io.Discard}), nil
	})}
	return up, func(s string) { go io.WriteString(w, s) }
}

func TestFirstMessageTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say := speaker(t)
		up.First, up.Idle = time.Minute, time.Second
		say(wstest.Frame(wstest.Ping, "")) // a ping is no event
		begin := time.Now()
		_, err := Open(t.Context(), up, messages, &llm.Request{})
		wantStatus(t, err, http.StatusGatewayTimeout)
		if waited := time.Since(begin); waited != time.Minute {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestSilenceBetweenMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say := speaker(t)
		up.First, up.Idle = time.Minute, 10*time.Second
		say(said(`{"t":"a"}`))
		s, err := Open(t.Context(), up, messages, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		next(t, s)
		for range 3 { // any byte shows that the backend is alive
			m := said(`{"t":"b"}`)
			time.AfterFunc(9*time.Second, func() { say(wstest.Frame(wstest.Ping, "")) })
			time.AfterFunc(18*time.Second, func() { say(m[:1]) })
			time.AfterFunc(27*time.Second, func() { say(m[1:5]) })
			time.AfterFunc(36*time.Second, func() { say(m[5:]) })
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

// The last message is the end, though the connection stays open; only Close
// waits, a moment, for the backend to close it too.
func TestSocketLeftOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, say := speaker(t)
		say(said(`{"t":"a"}`, `{"f":"length","p":7,"c":9}`))
		s, err := Open(t.Context(), up, messages, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		next(t, s)
		if ev := next(t, s); ev[0].Finish != llm.FinishLength {
			t.Errorf("got %+v", ev)
		}
		if _, err := s.Next(nil); err != io.EOF || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if got, want := s.Usage(), (llm.Usage{Prompt: 7, Completion: 9, Has: true}); got != want {
			t.Errorf("usage %+v", got)
		}
		s.Close()
		if waited := time.Since(begin); waited != drain {
			t.Errorf("Close waited %v", waited)
		}
	})
}

// A caller that does not read lets the backend wait, and nothing is gathered.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up, _ := speaker(t)
		r, w := io.Pipe()
		up.Client.Transport = roundTrip(func(req *http.Request) (*http.Response, error) {
			return wstest.Answer(req, wstest.Deaf(r)), nil
		})
		var wrote atomic.Int32
		const all = 1000
		go func() {
			for range all {
				io.WriteString(w, said(`{"t":"0123456789"}`))
				wrote.Add(1)
			}
			io.WriteString(w, said("[DONE]"))
			w.Close()
		}()
		s, err := Open(t.Context(), up, messages, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		synctest.Wait()
		if n := wrote.Load(); n > 250 { // the library's buffer holds 4 KiB
			t.Errorf("%d messages were taken for one that was wanted", n)
		}
		answer, err := Collect(s, 1<<20)
		if err != nil || len(answer.Choices[0].Text) != 10*all {
			t.Errorf("%v", err)
		}
	})
}
