//go:build real

package real

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// controller starts FastChat's controller and returns its URL.
func controller(t *testing.T) string {
	t.Helper()
	port := freePort(t)
	url := "http://127.0.0.1:" + port
	run(t, inBin(t, "fastchat/venv/bin/python"), "-m", "fastchat.serve.controller", "--host", "127.0.0.1", "--port", port).
		ready(t, http.MethodPost, url+"/list_models")
	return url
}

// worker starts one of FastChat's workers.
func worker(t *testing.T, module, controller string, args ...string) (url string, p *process) {
	t.Helper()
	port := freePort(t)
	url = "http://127.0.0.1:" + port
	p = run(t, inBin(t, "fastchat/venv/bin/python"), append([]string{
		"-m", "fastchat.serve." + module, "--host", "127.0.0.1", "--port", port, "--worker-address", url,
		"--controller-address", controller, "--device", "cpu",
	}, args...)...)
	p.ready(t, http.MethodPost, url+"/worker_get_status")
	return url, p
}

// vicuna is a worker for the model that recites, under Vicuna's name.
func vicuna(t *testing.T, controller string) (url string, p *process) {
	t.Helper()
	return worker(t, "model_worker", controller, "--model-path", inBin(t, "reciter"),
		"--model-names", "vicuna-7b", "--conv-template", "vicuna_v1.1")
}

func fastchat(t *testing.T, url string) *front {
	t.Helper()
	f := &front{tap: newTap(t, url), path: "/worker_generate_stream", testdata: "fastchat/testdata", model: "vicuna-7b"}
	f.base = gateway(t, `  "*": {adapter: fastchat, url: "`+f.tap.URL+`", model: "*"}`+"\n")
	return f
}

func TestFastChatWorker(t *testing.T) {
	url, p := vicuna(t, controller(t))
	f := fastchat(t, url)

	once := " Once upon a time, there lived one dragoman."
	// The worker counts an answer's tokens without the last one.
	f.play(t, script{"", `"messages": [{"role": "user", "content": "Hi"}]`, once, "stop", ""})
	f.play(t, script{"plain", `"prompt": "Tell me:", "max_tokens": 32`, once, "stop", "8/10"})
	f.play(t, script{
		"unicode", `"prompt": "What?", "max_tokens": 32, "temperature": 0`,
		" café <b>\"q\"\\🐻 =東京\u2028 end", "stop", "5/21",
	})
	f.play(t, script{
		"stopstring", `"prompt": "Count #", "max_tokens": 32, "stop": ["###"]`,
		" first ## second ", "stop", "7/4",
	})
	f.play(t, script{
		"stopstrings", `"prompt": "Count #", "max_tokens": 32, "stop": ["third", "cond"]`,
		" first ## se", "stop", "7/2",
	})
	f.play(t, script{"length", `"prompt": "Clock ~", "max_tokens": 5`, " tick tock tick tock tick", "length", "7/5"})
	f.play(t, script{"cleanup", `"prompt": "How is it!", "max_tokens": 32`, " It's so", "stop", "10/4"})
	f.play(t, script{"halfrune", `"prompt": "Smile %", "max_tokens": 32`, " grin\uFFFD", "stop", "7/2"})

	t.Run("error", func(t *testing.T) {
		body := `{"model": "vicuna-7b", "stream": true, "prompt": "", "max_tokens": 8}`
		harness.Do(t, http.MethodPost, f.base+"/v1/completions", body).Want(t, http.StatusBadGateway, "upstream_error", "")
		f.save(t, "errorfirst", body)
	})
	t.Run("context", func(t *testing.T) {
		harness.Do(t, http.MethodPost, f.base+"/v1/completions",
			`{"model": "vicuna-7b", "max_tokens": 8, "prompt": "`+strings.Repeat("x", 5000)+`"}`).
			Want(t, http.StatusBadRequest, "context_length_exceeded", "messages")
	})
	t.Run("cancel", func(t *testing.T) {
		_, leave := f.open(t, `"prompt": "Clock ~", "max_tokens": 1900`)
		leave()
		p.until(t, "the worker has no request left", func() bool { return f.queue(t) == 0 })
		if _, complete := f.tap.answer(f.path); complete {
			t.Error("the worker ran to the end")
		}
	})
}

// queue asks a worker how many requests it has.
func (f *front) queue(t *testing.T) int {
	t.Helper()
	var status struct {
		Queue *int `json:"queue_length"`
	}
	a := harness.Do(t, http.MethodPost, f.tap.URL+"/worker_get_status", "")
	if err := json.Unmarshal(a.Body, &status); err != nil || status.Queue == nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return *status.Queue
}

func TestFastChatController(t *testing.T) {
	url := controller(t)
	f := fastchat(t, url)
	body := `{"model": "vicuna-7b", "stream": true, "prompt": "Tell me:", "max_tokens": 32}`

	harness.Do(t, http.MethodPost, f.base+"/v1/completions", body).Want(t, http.StatusServiceUnavailable, "upstream_error", "")
	f.save(t, "errornoworker", body)

	_, p := vicuna(t, url)
	f.play(t, script{
		"controller", `"prompt": "Tell me:", "max_tokens": 32`,
		" Once upon a time, there lived one dragoman.", "stop", "8/10",
	})

	t.Run("worker dies", func(t *testing.T) {
		rest, _ := f.open(t, `"prompt": "Clock ~", "max_tokens": 1900`)
		p.kill()
		text, err := io.ReadAll(rest)
		if err != nil || !regexp.MustCompile(`data: {"error":.*}\n\ndata: \[DONE\]\n\n$`).Match(text) {
			t.Errorf("%v: the stream ends with %q", err, text[max(0, len(text)-300):])
		}
		harness.Do(t, http.MethodPost, f.base+"/v1/completions", body).Want(t, http.StatusGatewayTimeout, "upstream_error", "")
		f.save(t, "errortimeout", body)
	})
}

// TestFastChatDiscovery has the gateway find the workers by their controller, and
// compares what clients get with what FastChat's own API server says.
func TestFastChatDiscovery(t *testing.T) {
	control := controller(t)
	base := gateway(t, `  "*": {adapter: fastchat, controller: "`+control+`"}`+"\n")
	f := &front{base: base, model: "vicuna-7b"}
	body := `{"model": "vicuna-7b", "stream": true, "prompt": "Tell me:", "max_tokens": 32}`
	harness.Do(t, http.MethodPost, base+"/v1/completions", body).Want(t, http.StatusNotFound, "model_not_found", "model")

	_, first := vicuna(t, control)
	f.play(t, script{"", `"prompt": "Tell me:", "max_tokens": 32`, " Once upon a time, there lived one dragoman.", "stop", "8/10"})
	if a := harness.Do(t, http.MethodGet, base+"/v1/models", ""); !strings.Contains(string(a.Body), `"id":"vicuna-7b"`) {
		t.Errorf("the list is %s", a.Body)
	}

	t.Run("own server", func(t *testing.T) {
		port := freePort(t)
		own := "http://127.0.0.1:" + port
		run(t, inBin(t, "fastchat2024/venv/bin/python"), "-m", "fastchat.serve.openai_api_server", "--host", "127.0.0.1",
			"--port", port, "--controller-address", control).ready(t, http.MethodGet, own+"/v1/models")
		same := func(path, body string) {
			t.Helper()
			var got, want any
			a, b := harness.Do(t, http.MethodPost, base+path, body), harness.Do(t, http.MethodPost, own+path, body)
			if err := errors.Join(json.Unmarshal(a.Body, &got), json.Unmarshal(b.Body, &want)); err != nil {
				t.Fatalf("%v: %s, %s", err, a.Body, b.Body)
			}
			if a.Status != http.StatusOK || !reflect.DeepEqual(said(got), said(want)) {
				t.Errorf("%s: %d %s, but %s", body, a.Status, a.Body, b.Body)
			}
		}
		same("/api/v1/token_check", `{"prompts": [{"model": "vicuna-7b", "prompt": "Tell me:", "max_tokens": 7}, {"model": "vicuna-7b", "prompt": "x", "max_tokens": 9999}]}`)
		same("/v1/chat/completions", `{"model": "vicuna-7b", "messages": "What?", "max_tokens": 32}`)
		same("/v1/chat/completions", `{"model": "vicuna-7b", "messages": "Tell me:"}`)
		same("/api/v1/chat/completions", `{"model": "vicuna-7b", "messages": [{"role": "user", "content": "Hi"}], "top_k": -1, "repetition_penalty": 1.0, "n": 2}`)
		same("/v1/completions", `{"model": "vicuna-7b", "prompt": ["What?", "Tell me:"], "max_tokens": 32, "n": 2}`)
		same("/v1/completions", `{"model": "vicuna-7b", "prompt": "Tell me:", "max_tokens": 32, "echo": true, "stop": null, "top_k": -1}`)
	})

	_, second := vicuna(t, control)
	first.kill() // the controller does not know it yet, and names it in turn
	for range 4 {
		f.play(t, script{"", `"prompt": "Tell me:", "max_tokens": 32`, " Once upon a time, there lived one dragoman.", "stop", "8/10"})
	}
	second.kill()
	harness.Do(t, http.MethodPost, base+"/v1/completions", body).Want(t, http.StatusBadGateway, "upstream_error", "")
}

// said leaves of an answer what must be the same whoever gives it: the texts of
// its choices, or all of a token check.
func said(answer any) any {
	members, _ := answer.(map[string]any)
	choices, _ := members["choices"].([]any)
	if choices == nil {
		return answer
	}
	var texts []any
	for _, c := range choices {
		one, _ := c.(map[string]any)
		message, _ := one["message"].(map[string]any)
		texts = append(texts, one["index"], one["text"], message["content"], one["finish_reason"])
	}
	return texts
}

// TestFastChatServer asks by FastChat's own OpenAI server.
func TestFastChatServer(t *testing.T) {
	control := controller(t)
	vicuna(t, control)
	port := freePort(t)
	url := "http://127.0.0.1:" + port
	run(t, inBin(t, "fastchat2024/venv/bin/python"), "-m", "fastchat.serve.openai_api_server", "--host", "127.0.0.1",
		"--port", port, "--controller-address", control).ready(t, http.MethodGet, url+"/v1/models")
	f := &front{tap: newTap(t, url), testdata: "openai/testdata", model: "vicuna-7b", unary: true}
	f.base = gateway(t, `  "*": {adapter: openai, url: "`+f.tap.URL+`", model: "*"}`+"\n")

	once := " Once upon a time, there lived one dragoman."
	f.play(t, script{"fastchat-plain", `"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 32`, once, "stop", ""})
	f.play(t, script{"fastchat-stopstring", `"messages": [{"role": "user", "content": "Hi"}], "stop": ["lived"]`, " Once upon a time, there ", "stop", ""})
	f.play(t, script{"fastchat-length", `"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 4`, " Once upon a time", "length", ""})
	f.play(t, script{
		"fastchat-completion", `"prompt": "What?", "max_tokens": 32`,
		" café <b>\"q\"\\🐻 =東京\u2028 end", "stop", "",
	})
	t.Run("no model", func(t *testing.T) {
		harness.Do(t, http.MethodPost, f.base+"/v1/completions", `{"model": "other", "prompt": "Hi", "max_tokens": 4}`).
			Want(t, http.StatusBadRequest, "", "")
	})
	t.Run("error", func(t *testing.T) {
		body := `{"model": "vicuna-7b", "stream": true, "prompt": "", "max_tokens": 8}`
		harness.Do(t, http.MethodPost, f.base+"/v1/completions", body).Want(t, http.StatusBadGateway, "upstream_error", "")
		f.save(t, "fastchat-errorfirst", body)
	})
}
