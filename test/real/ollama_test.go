//go:build real

package real

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// modelfile tells Ollama of the built-in model. It does not read the template
// that the model brings.
const modelfile = `FROM %s
TEMPLATE """{{ range .Messages }}<|im_start|>{{ .Role }}
{{ if ne .Role "assistant" }} {{ end }}{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
"""
`

// ollama starts Ollama with the built-in model.
func ollama(t *testing.T) (url string, p *process) {
	t.Helper()
	dir := t.TempDir()
	port := freePort(t)
	url = "http://127.0.0.1:" + port
	for name, value := range map[string]string{"HOME": dir, "OLLAMA_MODELS": dir, "OLLAMA_HOST": "127.0.0.1:" + port} {
		t.Setenv(name, value)
	}
	program := inBin(t, "ollama/bin/ollama")
	p = run(t, program, "serve")
	p.ready(t, http.MethodGet, url+"/api/version")
	model, err := filepath.Abs("../../engine/stories/stories.gguf")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "Modelfile")
	if err := os.WriteFile(file, fmt.Appendf(nil, modelfile, model), 0o600); err != nil {
		t.Fatal(err)
	}
	<-run(t, program, "create", "stories", "-f", file).done
	return url, p
}

// TestOllama asks by Ollama's own routes and by its OpenAI routes.
func TestOllama(t *testing.T) {
	url, p := ollama(t)
	own := &front{tap: newTap(t, url), path: "/api/chat", testdata: "ollama/testdata", model: "stories"}
	own.base = gateway(t, `  "*": {adapter: ollama, url: "`+own.tap.URL+`", model: "*"}`+"\n")
	generate := *own
	generate.path = "/api/generate"
	open := &front{tap: newTap(t, url), testdata: "openai/testdata", model: "stories", unary: true}
	open.base = gateway(t, `  "*": {adapter: openai, url: "`+open.tap.URL+`", model: "*"}`+"\n")

	generate.play(t, script{"completion", `"prompt": "Once upon a time", "temperature": 0, "max_tokens": 8`, "", "length", ""})
	for _, f := range []*front{own, open} {
		prefix := ""
		if f == open {
			prefix = "ollama-"
		}
		f.play(t, script{prefix + "plain", dog, "", "stop", ""})
		f.play(t, script{prefix + "length", dog + `, "max_tokens": 5`, "", "length", "15/5"})
		f.play(t, script{prefix + "stopstring", dog + `, "max_tokens": 90, "stop": ["dog", "a d"]`, "", "stop", ""})
		f.play(t, script{prefix + "unicode", dog + `, "max_tokens": 90, ` + schema, "\"café <b> 🐻 東京\u2028\" ", "stop", ""})
		t.Run("no model", func(t *testing.T) {
			harness.Do(t, http.MethodPost, f.base+"/v1/chat/completions", `{"model": "other", `+dog+`}`).
				Want(t, http.StatusBadGateway, "upstream_not_found", "")
		})
		t.Run("cancel", func(t *testing.T) {
			const long = `"messages": [{"role": "user", "content": "Story about a dog."}], "max_tokens": 900, "temperature": 2`
			_, leave := f.open(t, long)
			leave()
			p.until(t, "the gateway leaves Ollama", func() bool { return f.tap.closed(f.generates(long)) })
			if _, complete := f.tap.answer(f.generates(long)); complete {
				t.Error("the server ran to the end")
			}
			p.until(t, "another request is served", func() bool {
				return harness.Do(t, http.MethodPost, f.base+"/v1/chat/completions", `{"model": "stories", `+dog+`, "max_tokens": 1}`).Status == http.StatusOK
			})
		})
	}
	t.Run("same text", func(t *testing.T) {
		body := `{"model": "stories", ` + dog + `}`
		one, two := own.whole(t, body), open.whole(t, body)
		if one != two || !strings.Contains(one.text, "dog") {
			t.Errorf("by /api/chat %+v, by OpenAI's route %+v", one, two)
		}
	})
}
