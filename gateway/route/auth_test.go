package route

import (
	"net/http"
	"testing"

	"dragoman/adapters"
	"dragoman/gateway/config"
)

// A protocol may have a header of its own for the key, which is then in no other.
func TestKeyHeader(t *testing.T) {
	var got http.Header
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		says("fine\n")(w, r)
	})
	f := func(b config.Backend, client, want string) {
		t.Helper()
		b.URL = url
		ctx := t.Context()
		if client != "" {
			ctx = WithAuthorization(ctx, client)
		}
		a := newDialect(adapters.Traits{Messages: true, KeyHeader: "x-goog-api-key"})
		s, err := pick(t, one(t, a, b), "m").Open(ctx, chat("hi"))
		if err != nil {
			t.Fatal(err)
		}
		text(t, s)
		if got.Get("X-Goog-Api-Key") != want || got.Get("Authorization") != "" {
			t.Errorf("got %v, want the key %q", got, want)
		}
	}
	f(config.Backend{}, "Bearer sk-client", "")
	f(config.Backend{Key: "sk-own"}, "Bearer sk-client", "sk-own")
	f(config.Backend{Key: "sk-own", ForwardAuth: true}, "Bearer sk-client", "sk-client")
	f(config.Backend{Key: "sk-own", ForwardAuth: true}, "nonsense", "sk-own")
}
