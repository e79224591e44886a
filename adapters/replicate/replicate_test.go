package replicate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

func TestContract(t *testing.T) { adaptertest.Run(t, Adapter{}, "testdata") }

func TestPlace(t *testing.T) {
	f := func(model, path, version string) {
		t.Helper()
		gotPath, gotVersion, err := place(model)
		if gotPath != path || gotVersion != version || (err == nil) != (path != "") {
			t.Errorf("%s: got %q %q %v", model, gotPath, gotVersion, err)
		}
	}
	f("meta/llama-3", "/v1/models/meta/llama-3/predictions", "")
	f("meta/llama-3:5c7d", "/v1/predictions", "5c7d")
	f("5c7d", "/v1/predictions", "5c7d")
	f("deployments/me/mine", "/v1/deployments/me/mine/predictions", "")
	f("", "", "")
	f("a/b/c", "", "")
	f("../x", "", "")
	f("a/..", "", "")
	f("deployments/a/b:c", "", "")
	f("/", "", "")
}

// call is one call as the backend saw it.
type call struct{ what, key string }

// api is Replicate: what it was asked, and what it answers by method and URL.
type api struct {
	calls   []call
	answers map[string]string
}

// RoundTrip implements http.RoundTripper.
func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	what := r.Method + " " + r.URL.String()
	a.calls = append(a.calls, call{what, r.Header.Get("Authorization")})
	body, ok := a.answers[what]
	status := http.StatusOK
	if !ok {
		status = http.StatusNotFound
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

const (
	create = "POST https://api.replicate.com/v1/models/o/m/predictions"
	listen = "GET https://stream.replicate.com/s"
	cancel = "POST https://api.replicate.com/v1/predictions/p1/cancel"
)

func (a *api) open(t *testing.T, stop ...string) (*stream.Stream, error) {
	t.Helper()
	up := &stream.Upstream{
		URL: "https://api.replicate.com", Client: &http.Client{Transport: a},
		Header: http.Header{"Authorization": {"Bearer r8_secret"}}, Secrets: []string{"r8_secret"},
	}
	return stream.Open(t.Context(), up, Adapter{}, &llm.Request{Model: "o/m", N: 1, Stream: true, Stop: stop, Prompt: llm.Prompt{{Text: "Hi"}}})
}

func (a *api) said(t *testing.T, want ...call) {
	t.Helper()
	if len(a.calls) != len(want) {
		t.Fatalf("calls: %v, want %v", a.calls, want)
	}
	for i := range want {
		if a.calls[i] != want[i] {
			t.Errorf("call %d: %v, want %v", i, a.calls[i], want[i])
		}
	}
}

const key = "Bearer r8_secret"

// TestTwoSteps: the stream is on another host, which does not get the key; an
// answer that was read to its end is not cancelled.
func TestTwoSteps(t *testing.T) {
	a := &api{answers: map[string]string{
		create: `{"id":"p1","status":"starting","urls":{"stream":"https://stream.replicate.com/s"}}`,
		listen: "event: output\ndata: Hi\n\nevent: done\ndata: {}\n\n",
	}}
	s, err := a.open(t)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = s.Next(nil)
	}
	if err != io.EOF {
		t.Error(err)
	}
	s.Close()
	a.said(t, call{create, key}, call{listen, ""})
}

// TestCancel: an answer that is not wanted any more is cancelled by name, where
// the client left and where a stop string has come.
func TestCancel(t *testing.T) {
	f := func(stop ...string) {
		t.Helper()
		a := &api{answers: map[string]string{
			create: `{"id":"p1","urls":{"stream":"https://stream.replicate.com/s"}}`,
			listen: "event: output\ndata: Hi END\n\nevent: output\ndata: more\n\n",
			cancel: "{}",
		}}
		s, err := a.open(t, stop...)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil && stop != nil {
			_, err = s.Next(nil)
		}
		s.Close()
		a.said(t, call{create, key}, call{listen, ""}, call{cancel, key})
	}
	f()
	f("END")
}

// TestCancelLost: a prediction whose stream cannot be had, or ends before it does,
// is cancelled: it would go on unheard, and be paid for.
func TestCancelLost(t *testing.T) {
	f := func(created, streamed string, want ...call) {
		t.Helper()
		a := &api{answers: map[string]string{create: created, cancel: "{}"}}
		if streamed != "" {
			a.answers[listen] = streamed
		}
		s, err := a.open(t)
		for err == nil {
			_, err = s.Next(nil)
		}
		if s != nil {
			s.Close()
		}
		if e := (*llm.Error)(nil); !errors.As(err, &e) {
			t.Errorf("got %v", err)
		}
		a.said(t, append([]call{{create, key}}, want...)...)
	}
	const created = `{"id":"p1","urls":{"stream":"https://stream.replicate.com/s"}}`
	f(`{"id":"p1","urls":{}}`, "", call{cancel, key})
	f(`{"id":"p1","urls":{"stream":"http://evil.test/s"}}`, "", call{cancel, key})
	f(created, "", call{listen, ""}, call{cancel, key})
	f(created, "event: output\ndata: Hi\n\n", call{listen, ""}, call{cancel, key})
	f(`{"urls":{}}`, "")
}

// TestFirstAnswer: what the first answer may be, and what the client is told.
func TestFirstAnswer(t *testing.T) {
	f := func(answer, want string) {
		t.Helper()
		a := &api{answers: map[string]string{create: answer, cancel: "{}"}}
		_, err := a.open(t)
		e := (*llm.Error)(nil)
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) || strings.Contains(e.Message, "evil") {
			t.Errorf("%.80s: got %.300v", answer, err)
		}
		for _, c := range a.calls {
			if c.key != "" && !strings.Contains(c.what, "api.replicate.com") {
				t.Errorf("%s: the key went to %s", answer, c.what)
			}
		}
	}
	f(`{"id":"p1","status":"failed","error":"no GPU"}`, "no GPU")
	f(`{"id":"p1","status":"starting","urls":{}}`, "gives no stream")
	f(`{"id":"p1","urls":{"stream":"http://evil.test/s"}}`, "not safe")
	f(`{"id":"p1","urls":{"stream":"https://evil.test/s"}}`, "status 404")
	f(`{"id":"p1","urls":{"stream":"::"}}`, "not safe")
	f(`nonsense`, "not its protocol")
	f(strings.Repeat("[", 100_000), "not its protocol")
}

// TestClientLeavesEarly: between the two steps nobody listens any more.
func TestClientLeavesEarly(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	var calls []string
	up := &stream.Upstream{URL: "https://api.replicate.com", Client: &http.Client{Transport: trip(func(r *http.Request) (*http.Response, error) {
		calls = append(calls, r.Method+" "+r.URL.String())
		if r.Method == http.MethodGet {
			leave()
			<-r.Context().Done()
			return nil, r.Context().Err()
		}
		body := `{"id":"p1","urls":{"stream":"https://stream.replicate.com/s"}}`
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}}
	_, err := stream.Open(ctx, up, Adapter{}, &llm.Request{Model: "o/m", N: 1, Prompt: llm.Prompt{{Text: "Hi"}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if want := create + ", " + listen + ", " + cancel; strings.Join(calls, ", ") != want {
		t.Errorf("got %v", calls)
	}
}

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
