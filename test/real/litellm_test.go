//go:build real

package real

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// TestLiteLLM asks by LiteLLM's proxy, which asks llama-server.
func TestLiteLLM(t *testing.T) {
	server, p := llamaServer(t, stories(t))
	port := freePort(t)
	url := "http://127.0.0.1:" + port
	config := filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf(`model_list:
  - {model_name: stories, litellm_params: {model: openai/stories, api_base: "%s/v1", api_key: none}}
  - {model_name: gone, litellm_params: {model: openai/gone, api_base: "http://127.0.0.1:9/v1", api_key: none}}
litellm_settings: {num_retries: 0, telemetry: false}
`, server)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("sk-%x", sha256.Sum256([]byte(port))) // it refuses to start without a good one
	os.Setenv("LITELLM_MASTER_KEY", key)
	os.Setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True") // not from the network
	run(t, inBin(t, "litellm/venv/bin/litellm"), "--config", config, "--host", "127.0.0.1", "--port", port).
		ready(t, http.MethodGet, url+"/health/liveliness")

	f := &front{tap: newTap(t, url), testdata: "openai/testdata", model: "stories", unary: true}
	f.base = gateway(t, `  "*": {adapter: openai, url: "`+f.tap.URL+`", key: "`+key+`", model: "*"}`+"\n")
	f.play(t, script{"litellm-plain", dog + `, "max_tokens": 8`, "", "length", "15/8"})
	f.play(t, script{"litellm-stopstring", dog + `, "max_tokens": 90, "stop": ["dog", "a d"]`, "", "stop", ""})
	f.play(t, script{"litellm-unicode", dog + `, "max_tokens": 90, ` + schema, "\"café <b> 🐻 東京\u2028\"", "stop", ""})
	f.play(t, script{"litellm-completion", `"prompt": "Once upon a time", "temperature": 0, "max_tokens": 8`, "", "length", ""})
	t.Run("errors", func(t *testing.T) {
		harness.Do(t, http.MethodPost, f.base+"/v1/chat/completions", `{"model": "gone", "stream": true, `+dog+`}`).
			Want(t, http.StatusBadGateway, "upstream_error", "")
		harness.Do(t, http.MethodPost, f.base+"/v1/completions",
			`{"model": "stories", "max_tokens": 8, "prompt": "`+strings.Repeat("x", 5000)+`"}`).
			Want(t, http.StatusBadRequest, "context_length_exceeded", "messages")
	})
	t.Run("cancel", func(t *testing.T) {
		_, leave := f.open(t, endless)
		leave()
		p.until(t, "no slot is busy", func() bool {
			return !strings.Contains(string(harness.Do(t, http.MethodGet, server+"/slots", "").Body), `"is_processing":true`)
		})
		if _, complete := f.tap.answer(f.generates(endless)); complete {
			t.Error("the server ran to the end")
		}
	})
}
