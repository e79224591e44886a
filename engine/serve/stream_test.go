package serve_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dragoman/engine/enginetest"
	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
	"dragoman/engine/serve"
)

const hi = `{"prompt":[{"text":"hi"}]}`

// stepper lets a model decode one batch for each value sent on it.
func stepper(m *fakellama.Model) chan struct{} {
	steps := make(chan struct{})
	m.OnDecode = func([]sched.Item) error {
		<-steps
		return nil
	}
	return steps
}

func TestEachTokenIsFlushed(t *testing.T) {
	m := &fakellama.Model{Reply: func(string) string { return "abc" }}
	steps := stepper(m)
	url := enginetest.New(t, m, enginetest.Options{}).URL
	go func() { steps <- struct{}{} }()
	resp, err := http.Post(url+"/generate", "", strings.NewReader(hi))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	for i, want := range []string{`{"id":97,"text":"a"}`, `{"id":98,"text":"b"}`, `{"id":99,"text":"c"}`} {
		if i > 0 {
			steps <- struct{}{}
		}
		if line, err := r.ReadString('\n'); line != want+"\n" {
			t.Fatalf("got %q, %v, want %s", line, err, want)
		}
	}
	close(steps)
	if rest, err := io.ReadAll(r); err != nil || !strings.HasPrefix(string(rest), `{"done":"stop"`) {
		t.Errorf("got %q, %v", rest, err)
	}
}

func TestAFailureMidwayIsTheLastLine(t *testing.T) {
	n := 0
	m := &fakellama.Model{Reply: func(string) string { return "abc" }, OnDecode: func([]sched.Item) error {
		if n++; n > 2 {
			return errors.New("out of order")
		}
		return nil
	}}
	got := do(t, "POST", enginetest.New(t, m, enginetest.Options{}).URL+"/generate", hi)
	want := `{"id":97,"text":"a"}
{"id":98,"text":"b"}
{"error":{"code":"engine_error","message":"decoding 1 tokens: out of order"}}
`
	if got.status != 200 || got.body != want {
		t.Errorf("got %d\n%s\nwant\n%s", got.status, got.body, want)
	}
}

func TestAFailureBeforeTheFirstTokenIsAStatus(t *testing.T) {
	m := &fakellama.Model{OnDecode: func([]sched.Item) error { return errors.New("out of order") }}
	got := do(t, "POST", enginetest.New(t, m, enginetest.Options{}).URL+"/generate", hi)
	want := `{"error":{"code":"engine_error","message":"decoding 3 tokens: out of order"}}` + "\n"
	if got.status != 500 || got.body != want {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// spy hands out the context of each request that is submitted.
type spy struct {
	*sched.Scheduler
	submitted chan context.Context
}

func (s spy) Submit(ctx context.Context, req sched.Request) (*sched.Stream, error) {
	s.submitted <- ctx
	return s.Scheduler.Submit(ctx, req)
}

func TestClosingTheConnectionCancels(t *testing.T) {
	m := &fakellama.Model{}
	// This scheduler does not run: nothing but the cancel can end the request.
	s := spy{sched.New(m, sched.Options{Context: 10, Parallel: 1, Batch: 4, Queue: 1}), make(chan context.Context)}
	srv := httptest.NewServer(serve.New(m, s, enginetest.Props(enginetest.Options{})))
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", srv.URL+"/generate", strings.NewReader(hi))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	inside := <-s.submitted
	cancel()
	<-inside.Done()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestQueueFull(t *testing.T) {
	m := &fakellama.Model{Reply: func(string) string { return "a" }}
	reached, steps := make(chan struct{}), make(chan struct{})
	m.OnDecode = func([]sched.Item) error {
		select {
		case reached <- struct{}{}:
			<-steps
		case <-steps:
		}
		return nil
	}
	url := enginetest.New(t, m, enginetest.Options{Parallel: 1, Queue: 1}).URL
	answers := make(chan answer)
	ask := func() { answers <- do(t, "POST", url+"/generate", hi) }
	go ask()
	<-reached // it runs; of the others one waits, one is refused
	go ask()
	go ask()
	refused := <-answers
	if refused.status != 429 || !strings.Contains(refused.body, `"queue_full"`) || refused.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s %v", refused.status, refused.body, refused.header)
	}
	close(steps)
	for range 2 {
		if got := <-answers; got.status != 200 {
			t.Errorf("got %d %s", got.status, got.body)
		}
	}
}
