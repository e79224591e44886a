package stream

import (
	"net/http"
	"testing"
)

// BC-079: one rule for base URLs.
func TestJoin(t *testing.T) {
	f := func(base, path, want string) {
		t.Helper()
		if got := Join(base, path); got != want {
			t.Errorf("Join(%q, %q) = %q, want %q", base, path, got, want)
		}
	}
	const chat = "/v1/chat/completions"
	f("http://h:1", chat, "http://h:1/v1/chat/completions")
	f("http://h:1/", chat, "http://h:1/v1/chat/completions")
	f("http://h:1/v1", chat, "http://h:1/v1/chat/completions")
	f("http://h:1/v1/", chat, "http://h:1/v1/chat/completions")
	f("http://h:1/v1/", "/gen", "http://h:1/v1/gen")
	// A version in the URL takes the place of the adapter's.
	f("http://h:1/api/paas/v4", chat, "http://h:1/api/paas/v4/chat/completions")
	f("http://h:1/v1beta/openai", chat, "http://h:1/v1beta/openai/chat/completions")
	f("http://h:1/v1/x", chat, "http://h:1/v1/x/chat/completions")
	f("http://h:1/v2", "/v1", "http://h:1/v2")
	// Any other path goes in front.
	f("http://h:1/x", chat, "http://h:1/x/v1/chat/completions")
	f("http://h:1/x?api-version=1", chat, "http://h:1/x/v1/chat/completions?api-version=1")
	f("http://h:1/vx", chat, "http://h:1/vx/v1/chat/completions")
	f("http://h:1/v", chat, "http://h:1/v/v1/chat/completions")
	f("http://v1", chat, "http://v1/v1/chat/completions")
	f("http://h:1/v1?a=1", "/v1/x?b=2", "http://h:1/v1/x?a=1&b=2")
	f("http://[::1]:1", "gen", "http://[::1]:1/gen")
	f("http://h:1/gen/", "", "http://h:1/gen")
	f("unix:/run/engine.sock", "/v1/x", "http://localhost/v1/x")
}

// BC-082: what is on this machine is never asked through a proxy.
func TestProxy(t *testing.T) {
	f := func(setting, url, want string) {
		t.Helper()
		client, err := NewClient(ClientOptions{Proxy: setting})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest("POST", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if rule := client.Transport.(*http.Transport).Proxy; rule != nil {
			if proxy, err := rule(req); err != nil {
				t.Error(err)
			} else if proxy != nil {
				got = proxy.String()
			}
		}
		if got != want {
			t.Errorf("proxy %q for %s: got %q, want %q", setting, url, got, want)
		}
	}
	f("http://p:3128", "http://10.0.0.5:1", "http://p:3128")
	f("http://p:3128", "http://127.0.0.1:1", "")
	f("http://p:3128", "http://127.9.9.9:1", "")
	f("http://p:3128", "http://localhost:1", "")
	f("http://p:3128", "http://[::1]:1", "")
	f("none", "http://10.0.0.5:1", "")
	f("", "http://localhost:1", "")
	if _, err := NewClient(ClientOptions{Proxy: "no url"}); err == nil {
		t.Error("a proxy that is no URL was accepted")
	}
}
