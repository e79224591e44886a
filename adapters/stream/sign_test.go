package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream/wstest"
)

// signed returns a backend whose calls are signed, and whose answer is made of
// the signed request.
func signed(answer func(*http.Request) *http.Response) *Upstream {
	up := answering(nil)
	up.Header = http.Header{"X-Team": {"blue"}, "Host": {"virtual.test"}}
	up.Sign = func(req *http.Request, body []byte) ([]string, error) {
		req.Header.Set("Authorization", "SIG KEYID99/"+req.Method+req.URL.Path+string(body)+req.Header.Get("X-Team")+req.Host)
		return []string{"KEYID99", ""}, nil
	}
	up.Client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) { return answer(r), nil })
	return up
}

func reply(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

// Every call is signed, when all else of it is done.
func TestSign(t *testing.T) {
	var got http.Header
	up := signed(func(r *http.Request) *http.Response {
		got = r.Header
		return reply(200, `{"t":"a","f":"stop"}`+"\n")
	})
	s, err := Open(context.Background(), up, deltas, &llm.Request{Prompt: prompt("hi")})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if want := `SIG KEYID99/POST/gen{"p":"hi"}bluevirtual.test`; got.Get("Authorization") != want || len(got["Host"]) != 0 {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := Asker(up)(context.Background(), adapters.Call{Method: "GET", Path: "/ask"}); err != nil {
		t.Fatal(err)
	}
	if want := `SIG KEYID99/GET/askbluevirtual.test`; got.Get("Authorization") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	up.Client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r.Header
		return wstest.Answer(r, wstest.Deaf(strings.NewReader(said(`{"f":"stop"}`)))), nil
	})
	if s, err = Open(context.Background(), up, messages, &llm.Request{Prompt: prompt("hi")}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if want := `SIG KEYID99/GET/genbluevirtual.test`; got.Get("Authorization") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(up.Secrets) != 0 {
		t.Errorf("one call's secrets are all calls' now: %q", up.Secrets)
	}
}

// BC-084: what a backend says of a signature is not told.
func TestBC084SignaturesAreSecret(t *testing.T) {
	for _, status := range []int{200, 400, 403, 500} {
		e := openError(t, signed(func(r *http.Request) *http.Response {
			return reply(status, `{"error":"bad signature: `+r.Header.Get("Authorization")[:11]+`, you said KEYID99"}`+"\n")
		}), deltas)
		if all := fmt.Sprintf("%v|%+v", e, *e); strings.Contains(all, "KEYID") || !strings.Contains(all, "***") {
			t.Errorf("%d: %s", status, all)
		}
		if (status == 403) != (e.Code == "upstream_auth") {
			t.Errorf("%d: code %q", status, e.Code)
		}
	}
}

func TestSignFails(t *testing.T) {
	up := signed(nil) // is not called
	up.Secrets = []string{"KEY123"}
	up.Sign = func(*http.Request, []byte) ([]string, error) { return nil, errors.New("no role for KEY123") }
	e := openError(t, up, deltas)
	if e.Status != 502 || e.Code != "upstream_auth" || e.Message != "The gateway has no credentials for the backend." || e.Err.Error() != "no role for ***" {
		t.Errorf("got %d %s %q, cause %v", e.Status, e.Code, e.Message, e.Err)
	}
}

// Who leaves while credentials are asked for has left, and is not told of them.
func TestSignIsCancelled(t *testing.T) {
	up := signed(nil)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(context.Background())
	up.Sign = func(req *http.Request, _ []byte) ([]string, error) {
		cancel(gone)
		<-req.Context().Done()
		return nil, req.Context().Err()
	}
	if _, err := Open(ctx, up, deltas, &llm.Request{}); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// A server that names another host for its answer is not given a signature for it.
func TestOtherHostsGetNoSignature(t *testing.T) {
	f := func(url string, want bool) {
		t.Helper()
		var got http.Header
		up := signed(func(r *http.Request) *http.Response {
			got = r.Header
			return reply(200, "{}")
		})
		if _, err := Asker(up)(context.Background(), adapters.Call{URL: url}); err != nil {
			t.Fatal(err)
		}
		if (got.Get("Authorization") != "") != want {
			t.Errorf("%s: %v", url, got)
		}
	}
	f("http://backend.test:1234/more", true)
	f("https://elsewhere.test/more", false)
}
