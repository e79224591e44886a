package route

import (
	"context"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/gateway/config"
)

func TestOpenAPlainBackend(t *testing.T) {
	var header http.Header
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		says("one \ntwo\n")(w, r)
	})
	d := newDialect(adapters.Traits{Messages: true})
	table := one(t, d, config.Backend{
		URL: url, Model: "theirs", Key: "sk-1", DefaultMaxTokens: 77,
		Headers: map[string]config.Secret{"X-Team": "blue"},
	})
	req := chat("hi")
	before := *req
	s, err := pick(t, table, "m").Open(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if got := text(t, s); got != "one two" {
		t.Errorf("got %q", got)
	}
	if header.Get("Authorization") != "Bearer sk-1" || header.Get("X-Team") != "blue" {
		t.Errorf("header: %v", header)
	}
	got := <-d.got
	if got.Model != "theirs" || got.MaxTokens != 77 || got.Messages[0].Content != "hi" {
		t.Errorf("the backend was asked %+v", got)
	}
	if !reflect.DeepEqual(*req, before) {
		t.Errorf("the caller's request was changed: %+v", req)
	}
}

func TestOpenRendersThePrompt(t *testing.T) {
	var body []byte
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		says("fine\n")(w, r)
	})
	a := &asking{dialect: newDialect(adapters.Traits{}), answer: func(ctx context.Context, _ adapters.Ask, model string) (adapters.Template, error) {
		if model != "m" {
			t.Errorf("asked for the template of %q", model)
		}
		return brackets{}, nil
	}}
	m := pick(t, one(t, a, config.Backend{URL: url}), "m")
	for range 2 {
		req := chat("hi")
		req.Stop = append(make([]string, 0, 8), "stop", "###")
		req.Params[llm.StopTokenIDs] = "[5]"
		s, err := m.Open(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		text(t, s)
		got := <-a.got
		if !reflect.DeepEqual(got.Stop, []string{"stop", "###", "</s>"}) || got.Params[llm.StopTokenIDs] != "[5,2,7]" {
			t.Errorf("got stop %q, ids %s", got.Stop, got.Params[llm.StopTokenIDs])
		}
		if string(body) != "[hi]" || len(got.Prompt) != 3 || got.Prompt[1].Special {
			t.Errorf("got prompt %q: %+v", body, got.Prompt)
		}
		if req.Prompt != nil || len(req.Stop) != 2 || req.Stop[:3][2] != "" {
			t.Errorf("the caller's request was changed: %+v", req)
		}
	}
	if n := a.asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestOpenUsesTheConfiguredTemplate(t *testing.T) {
	url := serve(t, says("fine\n"))
	a := &asking{dialect: newDialect(adapters.Traits{})} // asking it would panic
	m := pick(t, one(t, a, config.Backend{URL: url, Template: "chatml"}), "m")
	s, err := m.Open(t.Context(), chat("hello there"))
	if err != nil {
		t.Fatal(err)
	}
	text(t, s)
	got := <-a.got
	if p := got.Prompt.Text(); !strings.Contains(p, "<|im_start|>user\nhello there<|im_end|>") {
		t.Errorf("got %q", p)
	}
	if !reflect.DeepEqual(got.Stop, []string{"<|im_end|>"}) {
		t.Errorf("got stop %q", got.Stop)
	}
}

func TestTemplateIsAskedAgainAfterTheBackendWasLost(t *testing.T) {
	status := atomic.Int32{}
	status.Store(200)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(int(status.Load()))
		says("fine\n")(w, r)
	})
	a := &asking{dialect: newDialect(adapters.Traits{}), answer: func(context.Context, adapters.Ask, string) (adapters.Template, error) {
		return brackets{}, nil
	}}
	m := pick(t, one(t, a, config.Backend{URL: url}), "m")
	f := func(code, wantAsked int32) {
		t.Helper()
		status.Store(code)
		if s, err := m.Open(t.Context(), chat("hi")); err == nil {
			text(t, s)
		} else if code == 200 {
			t.Error(err)
		}
		if n := a.asked.Load(); n != wantAsked {
			t.Errorf("after %d: asked %d times, want %d", code, n, wantAsked)
		}
	}
	f(200, 1)
	f(400, 1)
	f(200, 1)
	f(502, 1)
	f(200, 2)
}

func TestSlotsBoundAndAreFreed(t *testing.T) {
	var running, most, served atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		now := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
		if served.Add(1)%3 == 0 {
			w.WriteHeader(http.StatusInternalServerError) // a failed attempt frees its slot too
		}
		says("fine\n")(w, r)
	})
	m := pick(t, one(t, newDialect(adapters.Traits{Messages: true, MaxConcurrent: 2}), config.Backend{URL: url}), "m")
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			s, err := m.Open(t.Context(), chat("hi"))
			if err != nil {
				if e := (*llm.Error)(nil); !errors.As(err, &e) || e.Status != 502 {
					t.Error(err)
				}
				return
			}
			for err == nil {
				_, err = s.Next(nil)
			}
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			s.Close()
			s.Close() // frees nothing twice
		})
	}
	all.Wait()
	if most.Load() > 2 || served.Load() != 30 {
		t.Errorf("%d at once, %d served", most.Load(), served.Load())
	}
	if n := len(only(m).slots); n != 0 {
		t.Errorf("%d slots are still held", n)
	}
}

func TestForwardAuth(t *testing.T) {
	var got string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		if r.Header.Get("X-Fail") != "" {
			w.WriteHeader(http.StatusBadRequest)
			says("no such key: "+got)(w, r)
			return
		}
		says("fine\n")(w, r)
	})
	f := func(b config.Backend, client, want string) {
		t.Helper()
		b.URL, got = url, "nothing came"
		ctx := t.Context()
		if client != "" {
			ctx = WithAuthorization(ctx, client)
		}
		s, err := pick(t, one(t, newDialect(adapters.Traits{Messages: true}), b), "m").Open(ctx, chat("hi"))
		if err == nil {
			text(t, s)
		} else if strings.Contains(err.Error(), "sk-") {
			t.Errorf("the error holds the key: %v", err)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(config.Backend{}, "Bearer sk-client", "")
	f(config.Backend{Key: "sk-own"}, "Bearer sk-client", "Bearer sk-own")
	f(config.Backend{ForwardAuth: true}, "Bearer sk-client", "Bearer sk-client")
	f(config.Backend{ForwardAuth: true, Key: "sk-own"}, "Bearer sk-client", "Bearer sk-client")
	f(config.Backend{ForwardAuth: true, Key: "sk-own"}, "", "Bearer sk-own")
	fails := map[string]config.Secret{"X-Fail": "yes"}
	f(config.Backend{ForwardAuth: true, Headers: fails}, "Bearer sk-client", "Bearer sk-client")
	f(config.Backend{Key: "sk-own", Headers: fails}, "", "Bearer sk-own")
}

func TestConfiguredFactsWin(t *testing.T) {
	yes, no := true, false
	d := newDialect(adapters.Traits{Messages: true, EndTexts: []string{"<end>"}})
	url := serve(t, says("one\none two\none two three</s>\n"))
	f := func(b config.Backend, want string) {
		t.Helper()
		b.URL = url
		s, err := pick(t, one(t, d, b), "m").Open(t.Context(), chat("hi"))
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(config.Backend{}, "oneone twoone two three</s>")
	f(config.Backend{Cumulative: &yes}, "one two three</s>")
	f(config.Backend{Cumulative: &yes, EndTexts: []string{"</s>"}}, "one two three")
	f(config.Backend{Cumulative: &no}, "oneone twoone two three</s>")
	if d.traits.Cumulative || len(d.traits.EndTexts) != 1 || d.traits.EndTexts[0] != "<end>" {
		t.Errorf("the adapter itself was changed: %+v", d.traits)
	}
	s, err := pick(t, one(t, d, config.Backend{URL: url, EOFIsFinish: &no}), "m").Open(t.Context(), chat("hi"))
	for err == nil {
		_, err = s.Next(nil)
	}
	if errors.Is(err, io.EOF) {
		t.Error("an end without a reason was taken")
	}
	if s != nil {
		s.Close()
	}
}

// TestBC084KeysStayInside: whatever the backend says, its key is not passed on.
func TestBC084KeysStayInside(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		says("bad key "+r.Header.Get("Authorization")+" "+r.Header.Get("X-Goog-Api-Key"))(w, r)
	})
	f := func(url string) {
		t.Helper()
		m := pick(t, one(t, newDialect(adapters.Traits{Messages: true}), config.Backend{
			URL: url, Key: "KEY123", Headers: map[string]config.Secret{"x-goog-api-key": "KEY456"},
		}), "m")
		_, err := m.Open(t.Context(), chat("hi"))
		e := asError(t, err)
		for _, secret := range []string{"KEY123", "KEY456"} {
			if strings.Contains(e.Error(), secret) {
				t.Errorf("%s is in %v", secret, e)
			}
		}
	}
	f(url)
	f(strings.Replace(url, "http://", "https://", 1))
}

func TestBC067ClientThatGoesBeforeTheFirstByte(t *testing.T) {
	came, gone := make(chan struct{}), make(chan struct{})
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(came)
		<-r.Context().Done()
		close(gone)
	})
	m := pick(t, one(t, newDialect(adapters.Traits{Messages: true, MaxConcurrent: 1}), config.Backend{URL: url}), "m")
	ctx, leave := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := m.Open(ctx, chat("hi"))
		failed <- err
	}()
	<-came
	leave()
	if err := <-failed; err == nil {
		t.Error("no error")
	}
	<-gone
	if n := len(only(m).slots); n != 0 {
		t.Error("the slot is still held")
	}
}
