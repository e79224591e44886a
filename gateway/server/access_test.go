package server

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

func TestCheck06Preflight(t *testing.T) {
	g := hello(t, Options{Keys: []string{"sk-secret"}})
	got := g.do("OPTIONS", "/v1/chat/completions", "", "Origin: https://chat.example.org",
		"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization, x-stainless-os, X-Stainless-Lang, bad\"one",
		"Access-Control-Request-Private-Network: true")
	h := got.Header
	if got.StatusCode != 204 || got.body != "" || h.Get("Access-Control-Allow-Origin") != "https://chat.example.org" ||
		!strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") || h.Get("Access-Control-Max-Age") == "" ||
		h.Get("Access-Control-Allow-Private-Network") != "true" || h.Get("Vary") != "Origin" {
		t.Errorf("got %d %v", got.StatusCode, h)
	}
	for _, name := range []string{"authorization", "content-type", "x-stainless-os", "x-stainless-lang"} {
		if !strings.Contains(h.Get("Access-Control-Allow-Headers"), name) {
			t.Errorf("%s is not allowed: %s", name, h.Get("Access-Control-Allow-Headers"))
		}
	}
	if strings.Contains(h.Get("Access-Control-Allow-Headers"), "bad") {
		t.Error("a malformed name is echoed")
	}
	if got := g.do("OPTIONS", "/anything", ""); got.StatusCode != 204 {
		t.Errorf("OPTIONS without an origin: %d", got.StatusCode)
	}
}

func TestCheck07ErrorsCarryTheOrigin(t *testing.T) {
	g := hello(t, Options{Keys: []string{"sk-secret"}})
	f := func(status int, method, target, body string, header ...string) {
		t.Helper()
		got := g.do(method, target, body, append(header, "Origin: https://chat.example.org")...)
		if got.StatusCode != status || got.Header.Get("Access-Control-Allow-Origin") != "https://chat.example.org" ||
			!strings.Contains(got.Header.Get("Access-Control-Expose-Headers"), "x-request-id") {
			t.Errorf("%s %s: %d %v", method, target, got.StatusCode, got.Header)
		}
	}
	key := "Authorization: Bearer sk-secret"
	f(401, "POST", "/v1/chat/completions", chatBody("hello", true))
	f(400, "POST", "/v1/chat/completions", "{", key)
	f(404, "GET", "/v1/nope", "", key)
	f(405, "GET", "/v1/completions", "", key)
	f(500, "POST", "/v1/chat/completions", chatBody("panic", false), key)
	f(200, "POST", "/v1/chat/completions", chatBody("hello", true), key)
}

func TestCheck08WrongKeys(t *testing.T) {
	g := hello(t, Options{Keys: []string{"sk-secret-1", "sk-secret-2"}})
	f := func(code string, header ...string) {
		t.Helper()
		got := g.do("POST", "/v1/chat/completions", chatBody("hello", false), header...)
		wantError(t, got, 401, "invalid_request_error", code)
		if strings.Contains(got.body, "sk-") {
			t.Errorf("the key is echoed: %s", got.body)
		}
	}
	f("")
	f("", "Authorization: Bearer ")
	f("", "Authorization: Basic c2stc2VjcmV0LTE=")
	f("invalid_api_key", "Authorization: Bearer sk-bad-777")
	f("invalid_api_key", "Authorization: Bearer sk-secret-")
	f("invalid_api_key", "Authorization: Bearer sk-secret-11")
	f("invalid_api_key", "X-Api-Key: sk-bad-777")
	wantError(t, g.do("GET", "/v1/nope", ""), 401, "invalid_request_error", "")
	if strings.Contains(g.log.String(), "sk-") {
		t.Error("a key is in the log")
	}
	for _, target := range []string{"/", "/health"} {
		if got := g.do("GET", target, ""); got.StatusCode != 200 {
			t.Errorf("%s needs a key", target)
		}
	}
}

func TestCheck09NoKeys(t *testing.T) {
	g := hello(t, Options{})
	for _, header := range []string{
		"X: y", "Authorization: ", "Authorization: Bearer ", "Authorization: Bearer None", "authorization: bearer x", "Authorization: Basic eA==", "Api-Key: x",
	} {
		if got := g.do("POST", "/v1/chat/completions", chatBody("hello", false), header); got.StatusCode != 200 {
			t.Errorf("%q: %d %s", header, got.StatusCode, got.body)
		}
	}
}

func TestCheck10KeyHeaders(t *testing.T) {
	g := hello(t, Options{Keys: []string{"sk-secret-1", "sk-secret-2"}})
	for _, header := range []string{
		"Authorization: Bearer sk-secret-1", "authorization: bearer sk-secret-2", "Authorization: BEARER  sk-secret-2",
		"api-key: sk-secret-1", "x-api-key: sk-secret-2",
	} {
		if got := g.do("POST", "/v1/chat/completions", chatBody("hello", false), header); got.StatusCode != 200 {
			t.Errorf("%q: %d %s", header, got.StatusCode, got.body)
		}
	}
	got := g.do("POST", "/v1/chat/completions", chatBody("hello", false), "Authorization: Bearer of.another", "x-api-key: sk-secret-2")
	if got.StatusCode != 200 {
		t.Errorf("a good key beside a bad one: %d", got.StatusCode)
	}
}

// asked is a model that says who asks it.
type asked struct {
	Model
	clients chan string
}

func (a asked) Name() string { return "asked" }

func (a asked) Open(_ context.Context, req *llm.Request) (stream.Source, error) {
	a.clients <- req.Client
	return nil, errors.New("no answer")
}

func TestKeysTellClientsApart(t *testing.T) {
	g := hello(t, Options{Keys: []string{"sk-secret-1", "sk-secret-2"}})
	model := asked{clients: make(chan string, 1)}
	g.models["asked"] = model
	for i, key := range []string{"sk-secret-1", "sk-secret-2"} {
		g.do("POST", "/v1/chat/completions", chatBody("asked", false), "X-Api-Key: "+key)
		if got, want := <-model.clients, strconv.Itoa(i+1); got != want {
			t.Errorf("%s: got client %q, want %q", key, got, want)
		}
	}
}

func TestCheck11RequestID(t *testing.T) {
	g := hello(t, Options{})
	f := func(sent string, echoed bool) {
		t.Helper()
		for _, target := range []string{"/v1/models", "/v1/nope"} {
			got := g.do("GET", target, "", "X-Request-Id: "+sent).Header.Get("X-Request-Id")
			if echoed != (got == sent) || got == "" {
				t.Errorf("%s with %q: %q", target, sent, got)
			}
		}
	}
	f("abc-123_X.7:9", true)
	f(strings.Repeat("a", 128), true)
	f(strings.Repeat("a", 129), false)
	f("a b", false)
	f("a\x7fb", false)
	f("<script>", false)
	a, b := g.do("GET", "/v1/models", ""), g.do("POST", "/v1/chat/completions", chatBody("hello", true))
	if a.Header.Get("X-Request-Id") == b.Header.Get("X-Request-Id") || b.Header.Get("Openai-Processing-Ms") == "" {
		t.Errorf("got %v and %v", a.Header, b.Header)
	}
}

// Without keys any web page could reach the gateway through the browser of
// someone on this machine, were it not for Host and Origin.
func TestForeignPagesWithoutKeys(t *testing.T) {
	g := hello(t, Options{Origins: []string{"https://chat.example.org"}, Hosts: []string{"gpu-box"}})
	f := func(ok bool, host, origin string) {
		t.Helper()
		header := []string{"Host: " + host}
		if origin != "" {
			header = append(header, "Origin: "+origin)
		}
		got := g.do("POST", "/v1/chat/completions", chatBody("hello", false), header...)
		if ok != (got.StatusCode == 200) || !ok && got.StatusCode != 403 {
			t.Errorf("Host %s, Origin %s: %d %s", host, origin, got.StatusCode, got.body)
		}
		if ok && origin != "" && got.Header.Get("Access-Control-Allow-Origin") != origin {
			t.Errorf("Origin %s: %v", origin, got.Header)
		}
	}
	f(true, "localhost:8000", "")
	f(true, "app.localhost", "")
	f(true, "127.0.0.1:8000", "")
	f(true, "[::1]:8000", "")
	f(true, "192.168.7.9", "")
	f(true, "gpu-box:8000", "")
	f(true, "GPU-BOX.", "")
	f(false, "evil.example:8000", "")
	f(false, "localhost.evil.example", "")
	f(true, "localhost", "http://localhost:3000")
	f(true, "localhost", "http://127.0.0.1:5173")
	f(true, "localhost", "http://[::1]:5173")
	f(true, "localhost", "https://chat.example.org")
	f(true, "192.168.7.9:8000", "http://192.168.7.9:8000")
	f(false, "192.168.7.9:8000", "http://192.168.7.9:9000")
	f(false, "localhost", "https://evil.example")
	f(false, "localhost", "http://localhost.evil.example")
	f(false, "localhost", "null")
	if got := g.do("GET", "/v1/models", "", "Origin: app://obsidian.md"); got.StatusCode != 200 || got.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a program that names itself: %d %v", got.StatusCode, got.Header)
	}

	got := g.do("OPTIONS", "/v1/chat/completions", "", "Origin: https://evil.example", "Access-Control-Request-Method: POST")
	if got.StatusCode != 204 || got.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("preflight of a foreign page: %d %v", got.StatusCode, got.Header)
	}
}

func TestAnyOriginIfConfigured(t *testing.T) {
	g := start(t, Options{Origins: []string{"*"}}, backends{})
	if got := g.do("GET", "/v1/models", "", "Origin: null"); got.StatusCode != 200 || got.Header.Get("Access-Control-Allow-Origin") != "null" {
		t.Errorf("got %d %v", got.StatusCode, got.Header)
	}
}

func TestKeysAndOrigins(t *testing.T) {
	g := hello(t, Options{Keys: []string{"sk-secret"}, Origins: []string{"https://chat.example.org"}})
	f := func(origin, allowed string) {
		t.Helper()
		got := g.do("GET", "/v1/models", "", "Origin: "+origin, "Authorization: Bearer sk-secret")
		if got.StatusCode != 200 || got.Header.Get("Access-Control-Allow-Origin") != allowed {
			t.Errorf("%s: %d %v", origin, got.StatusCode, got.Header)
		}
	}
	f("https://chat.example.org", "https://chat.example.org")
	f("https://evil.example", "") // its browser keeps the answer from it
	f("http://localhost:3000", "http://localhost:3000")
}
