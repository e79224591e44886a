package field

import (
	"strings"
	"testing"

	"dragoman/test/harness"
)

// several returns the configuration of a model m with equal backends.
func several(adapter string, urls ...string) string {
	list := ""
	for _, url := range urls {
		list += "      - {adapter: " + adapter + ", url: \"" + url + "\"}\n"
	}
	if adapter != "openai" {
		list = strings.ReplaceAll(list, "}", ", template: chatml}")
	}
	return "models:\n  m:\n    backends:\n" + list
}

// failing is a backend that always gives the same reply.
func failing(t *testing.T, r harness.Reply) *harness.Backend {
	t.Helper()
	return harness.NewBackend(t, func(harness.Received) harness.Reply { return r })
}

// The next backend answers what the first could not, for streams and for whole
// answers, and the client sees nothing of it.
func TestNextBackendAnswers(t *testing.T) {
	f := func(adapter string, r harness.Reply, good string) {
		t.Helper()
		for _, ask := range []string{`"stream":true`, ""} {
			bad := failing(t, r)
			other := harness.NewBackend(t, func(got harness.Received) harness.Reply {
				if adapter == "openai" && !strings.Contains(got.Body, `"stream":true`) {
					return harness.Reply{Body: whole("To be", "stop")}
				}
				return harness.Reply{Body: good}
			})
			base, log := harness.GatewayWithLog(t, several(adapter, bad.URL, other.URL))
			answer := harness.Chat(t, base, ask)
			if ask == "" {
				if got := answer.Content(t); got != "To be" {
					t.Errorf("got %q", got)
				}
			} else {
				answer.Check(t, false).Want(t, "R C F=stop D", "To be")
			}
			id := answer.Header.Get("X-Request-Id")
			if line := log.Wait(t, "a backend failed"); !strings.Contains(line, "backend=m[0] attempt=1 id="+id) {
				t.Errorf("logged %s", line)
			}
			if line := log.Wait(t, "msg=request"); !strings.Contains(line, "backend=m[1] ") || !strings.Contains(line, "attempts=2") {
				t.Errorf("logged %s", line)
			}
		}
	}
	answer := openai("stop", "To", " be")
	f("openai", harness.Reply{Status: 503, Body: "busy"}, answer)
	f("openai", harness.Reply{Status: 401, Body: `{"error":{"message":"no key"}}`}, answer)
	f("openai", harness.Reply{Body: sse(`{"error":{"message":"boom"}}`)}, answer)
	f("openai", harness.Reply{Body: "<html>sign in</html>"}, answer)
	f("openai", harness.Reply{Body: "⟂"}, answer)
	f("fastchat", harness.Reply{Body: `{"text":"worker busy","error_code":50001}␀`}, fastchat("To", "")+fastchat("To be", "stop"))
	f("native", harness.Reply{Body: `{"error":{"code":"engine_error","message":"x"}}⏎`}, native("To", " be")+nativeEnd("stop"))
}

// A stream that has begun with its role, because nothing came for long, still
// goes to the next backend.
func TestNextBackendAfterTheRole(t *testing.T) {
	silent, other := harness.Script(t, "⏸"), harness.Script(t, openai("stop", "To", " be"))
	base := harness.Gateway(t, `
commit_after: 10ms
models:
  m:
    backends:
      - {adapter: openai, url: "`+silent.URL+`", timeout: {first: 200ms}}
      - {adapter: openai, url: "`+other.URL+`"}
`)
	harness.Chat(t, base, `"stream":true`).Check(t, false).Want(t, "R C F=stop D", "To be")
}

// BC-016: after the first event the answer is that backend's, whole or cut.
func TestBC016NoOtherBackendGoesOn(t *testing.T) {
	bad, other := failing(t, harness.Reply{Body: openai("", "To") + "⟂"}), harness.Script(t, openai("stop", "never"))
	base := harness.Gateway(t, several("openai", bad.URL, other.URL))
	harness.Chat(t, base, `"stream":true`).Check(t, false).Want(t, "R C E D", "To")
	if n := other.Requests(); n != 0 {
		t.Errorf("the other backend was asked %d times", n)
	}
}

// BC-065: no failover to an equal target, and no backend is blamed.
func TestBC065NoFailover(t *testing.T) {
	long := harness.Reply{
		Status: 400,
		Body:   `{"error":{"code":400,"type":"exceed_context_size_error","message":"too long","n_prompt_tokens":9,"n_ctx":4}}`,
	}
	one, other := failing(t, long), failing(t, long)
	base := harness.Gateway(t, several("openai", one.URL, other.URL))
	for _, ask := range []string{"", `"stream":true`, "", `"stream":true`} {
		harness.Chat(t, base, ask).Want(t, 400, "context_length_exceeded", "messages")
	}
	if a, b := one.Requests(), other.Requests(); a != 2 || b != 2 {
		t.Errorf("asked %d and %d times", a, b)
	}
}

// A client that is told to wait is told so while nobody is asked, too.
func TestAllBackendsAreBusy(t *testing.T) {
	busy := func(after string) *harness.Backend {
		return failing(t, harness.Reply{Status: 429, Header: map[string]string{"Retry-After": after}, Body: "slow down"})
	}
	one, other := busy("250"), busy("120")
	base, log := harness.GatewayWithLog(t, several("openai", one.URL, other.URL))
	for _, ask := range []string{"", `"stream":true`, ""} {
		answer := harness.Chat(t, base, ask)
		answer.Want(t, 429, "upstream_error", "")
		if got := answer.Header.Get("Retry-After"); len(got) != 3 || got > "120" {
			t.Errorf("Retry-After: %s", got)
		}
	}
	if a, b := one.Requests(), other.Requests(); a != 1 || b != 1 {
		t.Errorf("asked %d and %d times", a, b)
	}
	log.Wait(t, "attempts=2")
	log.Wait(t, "attempts=0")
}

// The answer of a fallback has the name that the client asked for.
func TestFallbackKeepsTheName(t *testing.T) {
	bad, other := failing(t, harness.Reply{Status: 500}), harness.Script(t, fastchat("Hi", "stop"))
	base := harness.Gateway(t, `
models:
  m: {adapter: openai, url: "`+bad.URL+`", fallback: [n-too]}
  n: {adapter: fastchat, url: "`+other.URL+`", template: vicuna, aliases: [n-too]}
`)
	s := harness.Chat(t, base, `"stream":true`).Check(t, false)
	s.Want(t, "R C F=stop D", "Hi")
	if s.Model != "m" {
		t.Errorf("the answer is from %q", s.Model)
	}
	if got := other.Request().Body; !strings.Contains(got, "USER: Q: ASSISTANT:") || !strings.Contains(got, `"model":"n"`) {
		t.Errorf("the fallback got %s", got)
	}
	// What the fallback cannot do is not asked of it; the client hears why the
	// model itself failed.
	harness.Chat(t, base, `"tools":[{"type":"function","function":{"name":"f"}}]`).Want(t, 502, "upstream_error", "")
	if n := other.Requests(); n != 0 {
		t.Errorf("the fallback was asked %d times", n)
	}
}
