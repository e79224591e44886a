package field

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// say asks for a chat completion of a model.
func say(t *testing.T, base, model, extra string) harness.Answer {
	t.Helper()
	return harness.Do(t, http.MethodPost, base+"/v1/chat/completions",
		fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"Q:"}]%s}`, model, extra))
}

// listed returns the ids of GET /v1/models.
func listed(t *testing.T, base string) []string {
	t.Helper()
	var list struct {
		Data []struct{ ID string }
	}
	if a := harness.Do(t, http.MethodGet, base+"/v1/models", ""); json.Unmarshal(a.Body, &list) != nil || a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	ids := []string{}
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	return ids
}

// Models come and go at a controller, and with them at the gateway; each request
// goes to the worker that the controller names.
func TestControllerModels(t *testing.T) {
	c := harness.NewController(t)
	one, two := harness.NewBackend(t, harness.PirateWorker), harness.NewBackend(t, harness.PirateWorker)
	c.Serve("vicuna-7b", one.URL, two.URL+"/")
	base := harness.Gateway(t, `
models:
  "*": {adapter: fastchat, controller: "`+c.URL+`"}
  fixed: {adapter: fastchat, controller: "`+c.URL+`", model: longchat}
  "v/*": {adapter: fastchat, controller: "`+c.URL+`", model: "vicuna-*"}
`)
	if got, want := listed(t, base), []string{"vicuna-7b", "fixed", "v/7b"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	for i, model := range []string{"vicuna-7b", "v/7b", "vicuna-7b"} {
		say(t, base, model, `,"stream":true`).Check(t, false).Want(t, "R C F=stop D", harness.Pirate)
		worker := []*harness.Backend{one, two}[i%2]
		for _, path := range []string{"/worker_get_conv_template", "/worker_generate_stream"}[i/2:] { // the template is asked for once
			if r := worker.Request(); r.Path != path || !strings.Contains(r.Body, `"vicuna-7b"`) {
				t.Errorf("the worker got %s %s", r.Path, r.Body)
			}
		}
	}
	say(t, base, "longchat", "").Want(t, 404, "model_not_found", "model")
	say(t, base, "fixed", "").Want(t, 404, "model_not_found", "model")
	c.Serve("longchat", two.URL)
	c.Serve("vicuna-7b")
	for _, model := range []string{"longchat", "fixed"} {
		if got := say(t, base, model, "").Content(t); got != harness.Pirate {
			t.Errorf("%s: got %q", model, got)
		}
	}
	answer := say(t, base, "v/7b", "")
	answer.Want(t, 404, "model_not_found", "model")
	if !strings.Contains(string(answer.Body), "'v/7b'") {
		t.Errorf("the client does not know the name in %s", answer.Body)
	}
	for id, status := range map[string]int{"vicuna-7b": 200, "v/7b": 200, "fixed": 200, "other": 404, "v/13b": 404} { // as in the list, which is some seconds old
		if got := harness.Do(t, http.MethodGet, base+"/v1/models/"+id, ""); got.Status != status {
			t.Errorf("%s: %d %s", id, got.Status, got.Body)
		}
	}
}

// A worker may have died since the controller heard of it. Its successor is asked
// for once; then the request fails like any other.
func TestControllerNamesADeadWorker(t *testing.T) {
	c, dead := harness.NewController(t), harness.Refusing
	worker := harness.NewBackend(t, harness.PirateWorker)
	base := harness.Gateway(t, `
models:
  m: {adapter: fastchat, controller: "`+c.URL+`"}
  other: {adapter: fastchat, controller: "`+c.URL+`", model: m, fallback: [good]}
  good: {adapter: fastchat, url: "`+worker.URL+`"}
`)
	breaks := harness.NewBackend(t, func(r harness.Received) harness.Reply {
		if r.Path == "/worker_generate_stream" {
			return harness.Reply{Body: "⟂"}
		}
		return harness.PirateWorker(r)
	})
	for _, gone := range []string{dead, breaks.URL} {
		c.Serve("m", gone, worker.URL)
		for _, extra := range []string{"", `,"stream":true`} {
			answer := say(t, base, "m", extra)
			if extra == "" {
				if got := answer.Content(t); got != harness.Pirate {
					t.Errorf("got %q", got)
				}
			} else {
				answer.Check(t, false).Want(t, "R C F=stop D", harness.Pirate)
			}
		}
	}
	c.Serve("m", dead)
	for c.Requests() > 0 {
		c.Request()
	}
	answer := say(t, base, "m", "")
	answer.Want(t, 502, "upstream_error", "")
	if n := c.Requests(); n != 2 {
		t.Errorf("the controller was asked %d times", n)
	}
	noAddress(t, answer, dead, c.URL)
	if got := say(t, base, "other", "").Content(t); got != harness.Pirate {
		t.Errorf("the fallback says %q", got)
	}
	c.Serve("m")
	if got := say(t, base, "other", "").Content(t); got != harness.Pirate {
		t.Errorf("the fallback of a model that is gone says %q", got)
	}
}

// noAddress fails the test if an answer tells where servers are.
func noAddress(t *testing.T, a harness.Answer, urls ...string) {
	t.Helper()
	for _, url := range urls {
		if _, host, _ := strings.Cut(url, "://"); strings.Contains(string(a.Body), host) {
			t.Errorf("the client reads of %s: %s", host, a.Body)
		}
	}
}

// What a controller or its worker says is answered as what any backend says, and
// tells clients no addresses.
func TestControllerFails(t *testing.T) {
	c := harness.NewController(t)
	var worker *harness.Backend
	worker = harness.NewBackend(t, func(r harness.Received) harness.Reply {
		if r.Path == "/worker_generate_stream" {
			return harness.Reply{Body: `{"text":"` + worker.URL + ` of ` + c.URL + ` is out of memory","error_code":50002}␀`}
		}
		return harness.PirateWorker(r)
	})
	base := harness.Gateway(t, `
models:
  m: {adapter: fastchat, controller: "`+c.URL+`", timeout: {first: 200ms}}
`)
	c.Serve("m", worker.URL)
	answer := say(t, base, "m", "")
	answer.Want(t, 503, "upstream_error", "")
	noAddress(t, answer, worker.URL, c.URL)
	if !strings.Contains(string(answer.Body), "is out of memory") {
		t.Errorf("the worker's words are lost: %s", answer.Body)
	}
	f := func(r harness.Reply, status int, code string) {
		t.Helper()
		c.Instead(&r)
		defer c.Instead(nil)
		answer := say(t, base, "m", "")
		answer.Want(t, status, code, "")
		noAddress(t, answer, worker.URL, c.URL)
	}
	f(harness.Reply{Body: "⟂"}, 502, "upstream_error")
	f(harness.Reply{Body: "⏸"}, 504, "upstream_error")
	f(harness.Reply{Status: 503}, 503, "upstream_error")
	f(harness.Reply{Status: 404, Body: `{"detail":"Not Found"}`}, 502, "upstream_not_found")
	for _, said := range []string{"<html>", "[]", "{}", `{"address":null}`, `{"address":["http://h"]}`} {
		f(harness.Reply{Body: said}, 502, "upstream_error")
	}
	for _, address := range []string{"localhost:21002", "ftp://h/", "http://", "file:///etc/passwd", "http://u:p@h", "//h", "%zz", "http://h/#x"} {
		c.Serve("m", address)
		if answer := say(t, base, "m", ""); answer.Status != 502 || strings.Contains(string(answer.Body), address) {
			t.Errorf("%s: %d %s", address, answer.Status, answer.Body)
		}
	}
}

// Of two controllers, the one that knows the model is asked.
func TestTwoControllers(t *testing.T) {
	a, b := harness.NewController(t), harness.NewController(t)
	worker := harness.NewBackend(t, harness.PirateWorker)
	a.Serve("one", worker.URL)
	b.Serve("two", worker.URL)
	base := harness.Gateway(t, `
models:
  "*":
    backends:
      - {adapter: fastchat, controller: "`+a.URL+`"}
      - {adapter: fastchat, controller: "`+b.URL+`"}
`)
	if got, want := listed(t, base), []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	for range 3 {
		for _, model := range []string{"one", "two"} {
			if got := say(t, base, model, "").Content(t); got != harness.Pirate {
				t.Errorf("%s: got %q", model, got)
			}
		}
		say(t, base, "three", "").Want(t, 404, "model_not_found", "model")
	}
	b.Instead(&harness.Reply{Body: "⟂"})
	say(t, base, "three", "").Want(t, 502, "upstream_error", "") // it may have known it
}
