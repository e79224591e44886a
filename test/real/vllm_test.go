//go:build real

package real

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// vllm starts vLLM for the model that recites.
func vllm(t *testing.T) (url string, p *process) {
	t.Helper()
	os.Setenv("VLLM_CPU_KVCACHE_SPACE", "1") // GiB
	os.Setenv("VLLM_NO_USAGE_STATS", "1")
	port := freePort(t)
	url = "http://127.0.0.1:" + port
	p = run(t, inBin(t, "vllm/venv/bin/python"), "-m", "vllm.entrypoints.openai.api_server", "--model", inBin(t, "reciter"),
		"--served-model-name", "reciter", "--host", "127.0.0.1", "--port", port, "--dtype", "float32",
		"--enforce-eager", "--max-model-len", "2048")
	p.ready(t, http.MethodGet, url+"/health")
	return url, p
}

// TestVLLM asks by vLLM's OpenAI routes and by its Anthropic route.
func TestVLLM(t *testing.T) {
	url, p := vllm(t)
	open := &front{tap: newTap(t, url), testdata: "openai/testdata", model: "reciter", unary: true}
	open.base = gateway(t, `  reciter: {adapter: openai, url: "`+open.tap.URL+"\"}\n")
	messages := &front{tap: newTap(t, url), path: "/v1/messages", testdata: "anthropic/testdata", model: "reciter"}
	messages.base = gateway(t, `  reciter: {adapter: anthropic, url: "`+messages.tap.URL+"\"}\n")

	for _, f := range []*front{open, messages} {
		recite(t, f, "vllm-")
		t.Run("context", func(t *testing.T) {
			harness.Do(t, http.MethodPost, f.base+"/v1/chat/completions",
				`{"model": "reciter", "max_tokens": 8, "messages": [{"role": "user", "content": "`+strings.Repeat("x", 5000)+`"}]}`).
				Want(t, http.StatusBadRequest, "context_length_exceeded", "messages")
		})
		t.Run("cancel", func(t *testing.T) {
			const endless = `"messages": [{"role": "user", "content": "Clock ~"}], "max_tokens": 1900`
			_, leave := f.open(t, endless)
			leave()
			p.until(t, "no request is running", func() bool {
				metrics := string(harness.Do(t, http.MethodGet, url+"/metrics", "").Body)
				return strings.Contains(metrics, "\n"+`vllm:num_requests_running{engine="0",model_name="reciter"} 0.0`)
			})
			if _, complete := f.tap.answer(f.generates(endless)); complete {
				t.Error("the server ran to the end")
			}
		})
	}
	open.play(t, script{"vllm-completion", `"prompt": "What?", "max_tokens": 32`, unicode, "stop", "5/22"})
	t.Run("no model", func(t *testing.T) {
		base := gateway(t, `  other: {adapter: openai, url: "`+url+"\"}\n")
		harness.Do(t, http.MethodPost, base+"/v1/completions", `{"model": "other", "prompt": "Hi", "max_tokens": 4}`).
			Want(t, http.StatusBadGateway, "upstream_not_found", "")
	})
}

const unicode = " café <b>\"q\"\\🐻 =東京\u2028 end"

// recite asks a server that applies the model's template, which joins the
// contents, for its texts. vLLM leaves out a rune that never ends.
func recite(t *testing.T, f *front, prefix string) {
	t.Helper()
	chat := func(text string) string {
		return `"messages": [{"role": "user", "content": "` + text + `"}], "max_tokens": 32`
	}
	f.play(t, script{prefix + "plain", chat("Tell me:"), " Once upon a time, there lived one dragoman.", "stop", "8/11"})
	f.play(t, script{prefix + "unicode", chat("What?"), unicode, "stop", "5/22"})
	f.play(t, script{prefix + "stopstring", chat("Count #") + `, "stop": ["###"]`, " first ## second ", "stop", "7/5"})
	f.play(t, script{prefix + "length", strings.Replace(chat("Clock ~"), "32", "5", 1), " tick tock tick tock tick", "length", "7/5"})
	f.play(t, script{prefix + "halfrune", chat("Smile %"), " grin", "stop", "7/3"})
}
