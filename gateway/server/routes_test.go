package server

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheck01Slashes(t *testing.T) {
	g := hello(t, Options{})
	for _, target := range []string{
		"/v1/models/", "//v1/models", "/models", "/v1/models", "/v1//models", "/v1/v1/models", "http://localhost/v1/models",
	} {
		if got := g.do("GET", target, ""); got.StatusCode != 200 || !strings.HasPrefix(got.body, `{"object":"list"`) {
			t.Errorf("%s: %d %s", target, got.StatusCode, got.body)
		}
	}
}

func TestCheck02ChatPaths(t *testing.T) {
	g := hello(t, Options{})
	for _, target := range []string{
		"/chat/completions", "/v1/chat/completions/", "/v1/chat/completions", "//v1//chat/completions", "/chat", "/v1/chat%2Fcompletions",
	} {
		if got := g.do("POST", target, chatBody("hello", false)); got.StatusCode != 200 || !strings.Contains(got.body, `"Hello world"`) {
			t.Errorf("%s: %d %s", target, got.StatusCode, got.body)
		}
	}
}

func TestCheck03UnknownPath(t *testing.T) {
	g := hello(t, Options{})
	got := g.do("POST", "/v1/nope", "{}")
	wantError(t, got, 404, "invalid_request_error", "unknown_url")
	if !strings.Contains(got.body, "POST /v1/nope") {
		t.Errorf("does not name method and path: %s", got.body)
	}
	wantError(t, g.do("POST", "/v1/%01%ff%22<nope", "{}"), 404, "invalid_request_error", "unknown_url")
}

func TestCheck04WrongMethod(t *testing.T) {
	g := hello(t, Options{})
	f := func(method, target, allow string) {
		t.Helper()
		got := g.do(method, target, "")
		wantError(t, got, 405, "invalid_request_error", "method_not_supported")
		if got.Header.Get("Allow") != allow {
			t.Errorf("%s %s: Allow %q", method, target, got.Header.Get("Allow"))
		}
	}
	f("GET", "/v1/chat/completions", "POST")
	f("GET", "/chat", "POST")
	f("PUT", "/v1/models", "GET, HEAD")
	f("DELETE", "/v1/models/hello", "GET, HEAD")
}

func TestCheck05Head(t *testing.T) {
	g := hello(t, Options{})
	for _, target := range []string{"/", "/v1/models", "/health"} {
		w := g.dial()
		w.send("%s", request11("HEAD", target, "")+request11("GET", "/health", ""))
		if got := w.reply("HEAD"); got.StatusCode != 200 || got.body != "" {
			t.Errorf("%s: %d %q", target, got.StatusCode, got.body)
		}
		if got := w.reply("GET"); got.body != `{"status":"ok"}` {
			t.Errorf("a body follows HEAD %s: %q", target, got.body)
		}
	}
}

func TestCheck20QueryIsIgnored(t *testing.T) {
	g := hello(t, Options{})
	for _, query := range []string{"?beta=true", "?api-version=2024-02-01", "/?a=/v1/nope"} {
		if got := g.do("POST", "/v1/chat/completions"+query, chatBody("hello", false)); got.StatusCode != 200 {
			t.Errorf("%s: %d %s", query, got.StatusCode, got.body)
		}
	}
}

func TestCheck82Models(t *testing.T) {
	g := hello(t, Options{})
	got := g.do("GET", "/v1/models", "")
	want := `{"object":"list","data":[{"id":"hello","object":"model","created":1700000000,"owned_by":"test"}]}`
	if got.body != want {
		t.Errorf("got %s", got.body)
	}
}

func TestCheck83OneModel(t *testing.T) {
	g := start(t, Options{}, backends{"meta-llama/Llama-3": says("#stop")})
	want := `{"id":"meta-llama/Llama-3","object":"model","created":1700000000,"owned_by":"test"}`
	for _, target := range []string{"/v1/models/meta-llama/Llama-3", "/v1/models/meta-llama%2FLlama-3", "/models/meta-llama%2fLlama-3/"} {
		if got := g.do("GET", target, ""); got.StatusCode != 200 || got.body != want {
			t.Errorf("%s: %d %s", target, got.StatusCode, got.body)
		}
	}
	wantError(t, g.do("GET", "/v1/models/meta-llama", ""), 404, "invalid_request_error", "model_not_found")
	if got := g.do("GET", "/v1/models/panic", ""); got.StatusCode != 200 || !strings.Contains(got.body, `"owned_by":"test"`) { // served, though not listed
		t.Errorf("a wildcard's model: %d %s", got.StatusCode, got.body)
	}
}

func TestCheck89OtherEndpoints(t *testing.T) {
	g := hello(t, Options{})
	multipart := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.wav\"\r\n\r\n" + strings.Repeat("x", 600<<10) + "\r\n--b--\r\n"
	f := func(method, target, body string, header ...string) {
		t.Helper()
		w := g.dial()
		w.send("%s", request11(method, target, body, header...)).send("%s", request11("GET", "/health", ""))
		wantError(t, w.reply(method), 404, "invalid_request_error", "unknown_url")
		if got := w.reply("GET"); got.body != `{"status":"ok"}` {
			t.Errorf("after %s: %s", target, got.body)
		}
	}
	f("POST", "/v1/audio/transcriptions", multipart, "Content-Type: multipart/form-data; boundary=b")
	f("POST", "/v1/images/edits", multipart, "Content-Type: multipart/form-data; boundary=b")
	f("POST", "/v1/moderations", `{"input":"x"}`)
	f("GET", "/v1/files", "")
	f("GET", "/v1/assistants", "")
	f("GET", "/v1/chat/completions/chatcmpl-1", "")
}

func TestCleanPath(t *testing.T) {
	f := func(target, want string) {
		t.Helper()
		if got := cleanPath(target); got != want {
			t.Errorf("cleanPath(%q) = %q, want %q", target, got, want)
		}
	}
	f("", "/")
	f("*", "/*")
	f("/?x=//", "/")
	f("//a//b//?c", "/a/b")
	f("/a%2Fb%20c", "/a/b c")
	f("/a%zz", "/a%zz")
	f("http://h:1/v1/chat?x", "/v1/chat")
	f("http://h", "/")
	f("/x://y", "/x:/y")
	f("/a#b", "/a")
}

func FuzzCleanPath(f *testing.F) {
	f.Add("//v1/%2f/../x?y#z")
	f.Add("http://a/b")
	f.Fuzz(func(t *testing.T, target string) {
		path := cleanPath(target)
		if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || len(path) > 1 && strings.HasSuffix(path, "/") {
			t.Errorf("cleanPath(%q) = %q", target, path)
		}
		match(path)
	})
}

func TestMalformedRequests(t *testing.T) {
	g := hello(t, Options{})
	f := func(status int, code, request string) {
		t.Helper()
		w := g.dial()
		w.send("%s", request)
		got := w.reply("GET")
		wantError(t, got, status, "invalid_request_error", code)
		if !got.Close {
			t.Errorf("%.40q: the connection stays open", request)
		}
	}
	f(400, "bad_request", "nonsense\r\n\r\n")
	f(400, "bad_request", "GET / HTTP/1.1\r\nno colon\r\n\r\n")
	f(431, "headers_too_large", fmt.Sprintf("GET / HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n", strings.Repeat("x", 40<<10)))
	if got := g.do("GET", "/health", "", "X: "+strings.Repeat("x", 12<<10)); got.StatusCode != 200 {
		t.Errorf("a header of 12 KiB: %d", got.StatusCode)
	}
}
