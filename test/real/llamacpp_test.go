//go:build real

package real

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// llamaServer starts llama-server with a model file.
func llamaServer(t *testing.T, model string, args ...string) (url string, p *process) {
	t.Helper()
	programs, _ := filepath.Glob(bin + "/llamacpp/*/bin/llama-server")
	if len(programs) != 1 {
		t.Fatal("no llama-server: test/real/setup.sh llamacpp makes it")
	}
	program, err := filepath.Abs(programs[0])
	if err != nil {
		t.Fatal(err)
	}
	port := freePort(t)
	url = "http://127.0.0.1:" + port
	all := []string{"--model", model, "--alias", "stories", "--host", "127.0.0.1", "--port", port, "--threads", "2", "--slots"}
	p = run(t, program, append(all, args...)...)
	p.ready(t, http.MethodGet, url+"/health")
	return url, p
}

// stories is the built-in model.
func stories(t *testing.T) string {
	t.Helper()
	model, err := filepath.Abs("../../engine/stories/stories.gguf")
	if err != nil {
		t.Fatal(err)
	}
	return model
}

const (
	dog     = `"messages": [{"role": "user", "content": "Story about a dog."}], "temperature": 0`
	schema  = `"response_format": {"type": "json_schema", "json_schema": {"name": "text", "schema": {"const": "caf\u00e9 <b> \ud83d\udc3b \u6771\u4eac\u2028"}}}`
	endless = `"messages": [{"role": "user", "content": "Story about a dog."}], "max_tokens": 900, "logit_bias": {"2": -100}`
)

// TestLlamaServer asks by llama-server's own route and by its OpenAI route, with
// the same outcome.
func TestLlamaServer(t *testing.T) {
	url, p := llamaServer(t, stories(t))
	own := &front{tap: newTap(t, url), path: "/completion", testdata: "llamacpp/testdata", model: "stories"}
	own.base = gateway(t, `  stories: {adapter: llamacpp, url: "`+own.tap.URL+"\"}\n")
	open := &front{tap: newTap(t, url), testdata: "openai/testdata", model: "stories", unary: true}
	open.base = gateway(t, `  stories: {adapter: openai, url: "`+open.tap.URL+"\"}\n")

	for _, f := range []*front{own, open} {
		name := func(s string) string { return s }
		if f == open {
			name = func(s string) string { return "llamacpp-" + s }
		}
		f.play(t, script{name("plain"), dog, "", "stop", ""})
		f.play(t, script{name("length"), dog + `, "max_tokens": 5`, "", "length", "15/5"})
		f.play(t, script{name("stopstring"), dog + `, "max_tokens": 90, "stop": ["dog", "a d"]`, "", "stop", ""})
		f.play(t, script{name("unicode"), dog + `, "max_tokens": 90, ` + schema, "\"café <b> 🐻 東京\u2028\"", "stop", ""})
		f.play(t, script{name("completion"), `"prompt": "Once upon a time", "temperature": 0, "max_tokens": 8`, "", "length", ""})
		t.Run("context", func(t *testing.T) {
			harness.Do(t, http.MethodPost, f.base+"/v1/completions",
				`{"model": "stories", "max_tokens": 8, "prompt": "`+strings.Repeat("x", 5000)+`"}`).
				Want(t, http.StatusBadRequest, "context_length_exceeded", "messages")
		})
		t.Run("cancel", func(t *testing.T) {
			_, leave := f.open(t, endless)
			leave()
			p.until(t, "no slot is busy", func() bool {
				return !strings.Contains(string(harness.Do(t, http.MethodGet, url+"/slots", "").Body), `"is_processing":true`)
			})
			if _, complete := f.tap.answer(f.generates(endless)); complete {
				t.Error("the server ran to the end")
			}
		})
	}
	t.Run("kept connections", func(t *testing.T) {
		base := gateway(t, `  stories: {adapter: llamacpp, url: "`+url+"\"}\n")
		for i := range 60 {
			body := fmt.Sprintf(`{"model": "stories", "prompt": "Once", "max_tokens": 2, "stream": %v}`, i%3 != 0)
			if a := harness.Do(t, http.MethodPost, base+"/v1/completions", body); a.Status != http.StatusOK || a.Err != nil {
				t.Fatalf("request %d: status %d: %s", i, a.Status, a.Body)
			}
		}
	})
	t.Run("same text", func(t *testing.T) {
		body := `{"model": "stories", ` + dog + `}`
		if one, two := own.whole(t, body), open.whole(t, body); one != two {
			t.Errorf("by /completion %+v, by OpenAI's route %+v", one, two)
		}
	})
}
