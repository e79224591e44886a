package field

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// counting is a FastChat worker of a model with 100 tokens of context, which
// counts each letter as one, and stops at ###.
func counting(t *testing.T) *harness.Backend {
	t.Helper()
	b := harness.NewBackend(t, func(r harness.Received) harness.Reply {
		switch r.Path {
		case "/model_details":
			return harness.Reply{Unframed: true, Body: `{"context_length":100}`}
		case "/count_token":
			var ask struct{ Prompt string }
			if err := json.Unmarshal([]byte(r.Body), &ask); err != nil {
				t.Errorf("the worker got %s", r.Body)
			}
			return harness.Reply{Unframed: true, Body: fmt.Sprintf(`{"count":%d,"error_code":0}`, len(ask.Prompt))}
		case "/worker_get_conv_template":
			reply := harness.PirateWorker(r)
			reply.Body = strings.NewReplacer(`"stop_str":null`, `"stop_str":"###"`, `"stop_token_ids":null`, `"stop_token_ids":[7]`).Replace(reply.Body)
			return reply
		}
		return harness.PirateWorker(r)
	})
	b.TellDetails()
	return b
}

// sent returns what the worker was sent to generate from.
func sent(t *testing.T, b *harness.Backend) map[string]any {
	t.Helper()
	for {
		r := b.Request()
		if r.Path != "/worker_generate_stream" {
			continue
		}
		var body map[string]any
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil {
			t.Fatalf("%v in %s", err, r.Body)
		}
		return body
	}
}

// What clients of FastChat's own API server send is understood as there.
func TestFastChatClients(t *testing.T) {
	worker := counting(t)
	base := harness.Gateway(t, `models: {m: {adapter: fastchat, url: "`+worker.URL+`"}}`)
	f := func(path, members string, want map[string]any) {
		t.Helper()
		answer := harness.Do(t, http.MethodPost, base+path, `{"model":"m",`+members+`}`)
		if answer.Status != http.StatusOK || !strings.Contains(string(answer.Body), harness.Pirate) {
			t.Fatalf("%s %s: %d %s", path, members, answer.Status, answer.Body)
		}
		if strings.Contains(path, "chat") {
			if got := answer.Content(t); got != harness.Pirate {
				t.Errorf("%s: got %q", members, got)
			}
		}
		got := sent(t, worker)
		for name, value := range want {
			if fmt.Sprint(got[name]) != fmt.Sprint(value) {
				t.Errorf("%s %s: %s is %v, want %v", path, members, name, got[name], value)
			}
		}
	}
	type is = map[string]any
	const hi = `"messages":[{"role":"user","content":"Hi"}]`
	rendered := "A chat between a curious user and an artificial intelligence assistant. USER: Hi ASSISTANT:"
	for _, path := range []string{"/v1/chat/completions", "/api/v1/chat/completions"} {
		f(path, hi+`,"repetition_penalty":1.1,"user":"u","top_k":-1`, is{"prompt": rendered, "repetition_penalty": 1.1, "top_k": -1})
		f(path, `"messages":"USER: Hi ASSISTANT:","max_tokens":null,"stop":null`, is{"prompt": "USER: Hi ASSISTANT:", "max_new_tokens": 80, "stop": []string{"###"}, "stop_token_ids": []int{7}})
		f(path, `"messages":"Hi","max_tokens":5,"stop":["xx","zz"]`, is{"max_new_tokens": 5, "stop": []string{"xx", "zz", "###"}})
	}
	f("/v1/chat/completions", hi+`,"n":1,"stop":"","presence_penalty":0.0,"frequency_penalty":0.0,"temperature":0.7,"top_p":1.0`,
		is{"max_new_tokens": 99 - len(rendered), "stop": []string{"###"}, "temperature": 0.7})
	f("/v1/completions", `"prompt":["Once"],"top_k":-1,"use_beam_search":false,"best_of":null,"logprobs":null,"suffix":null,"echo":false`,
		is{"prompt": "Once", "max_new_tokens": 16, "stop": []string{"###"}, "use_beam_search": nil})
	f("/v1/completions", `"prompt":"Once","max_tokens":1000,"best_of":1`, is{"max_new_tokens": 95})

	long := harness.Do(t, http.MethodPost, base+"/v1/chat/completions", `{"model":"m","messages":"`+strings.Repeat("x", 100)+`"}`)
	long.Want(t, 400, "context_length_exceeded", "messages")
	for members, param := range map[string]string{
		`"n":0`: "n", `"max_tokens":0`: "max_tokens", `"temperature":-1`: "temperature", `"temperature":2.1`: "temperature",
		`"top_p":-1`: "top_p", `"top_p":2`: "top_p", `"stop":7`: "stop",
	} {
		if got := harness.Chat(t, base, members); got.Status != 400 || *got.Error(t).Param != param {
			t.Errorf("%s: %d %s", members, got.Status, got.Body)
		}
	}
}

// A text where messages belong is streamed as a chat; a backend that takes
// messages cannot do it.
func TestMessagesAsOneText(t *testing.T) {
	for _, how := range harness.Deliveries {
		worker := counting(t)
		worker.Deliver(how)
		base := harness.Gateway(t, `models: {m: {adapter: fastchat, url: "`+worker.URL+`"}}`)
		harness.Do(t, http.MethodPost, base+"/v1/chat/completions", `{"model":"m","messages":"Hi","stream":true}`).
			Check(t, false).Want(t, "R C F=stop D", harness.Pirate)
	}
	base := harness.Gateway(t, `models: {m: {adapter: openai, url: "`+harness.Refusing+`"}}`)
	harness.Do(t, http.MethodPost, base+"/v1/chat/completions", `{"model":"m","messages":"Hi"}`).Want(t, 400, "invalid_type", "messages")
}

// default_max_tokens bounds an answer only where the room cannot be told.
func TestFastChatDefaultMaxTokens(t *testing.T) {
	f := func(worker *harness.Backend, options string, want any) {
		t.Helper()
		base := harness.Gateway(t, `models: {m: {adapter: fastchat, url: "`+worker.URL+`", default_max_tokens: 50`+options+`}}`)
		if a := harness.Do(t, http.MethodPost, base+"/v1/chat/completions", `{"model":"m","messages":"Hi"}`); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if got := sent(t, worker)["max_new_tokens"]; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	f(counting(t), "", 97)
	f(counting(t), ", drop: [max_tokens]", nil)
	f(harness.NewBackend(t, harness.PirateWorker), "", 50)
}

func TestFastChatTokenCheck(t *testing.T) {
	c, worker := harness.NewController(t), counting(t)
	c.Serve("vicuna", worker.URL)
	base := harness.Gateway(t, `
models:
  m: {adapter: fastchat, url: "`+worker.URL+`"}
  "*": {adapter: fastchat, controller: "`+c.URL+`"}
  other: {adapter: openai, url: "`+harness.Refusing+`"}
  blind:
    backends:
      - {adapter: fastchat, url: "`+harness.NewBackend(t, harness.PirateWorker).URL+`"}
      - {adapter: fastchat, url: "`+worker.URL+`"}
`)
	ask := func(model string, n int) harness.Answer {
		return harness.Do(t, http.MethodPost, base+"/api/v1/token_check", fmt.Sprintf(`{"prompts":[{"model":%q,"prompt":"12345","max_tokens":%d}]}`, model, n))
	}
	f := func(model string, n int, want string) {
		t.Helper()
		if got := ask(model, n); got.Status != http.StatusOK || string(got.Body) != want {
			t.Errorf("%s: %d %s", model, got.Status, got.Body)
		}
	}
	f("m", 95, `{"prompts":[{"fits":true,"tokenCount":5,"contextLength":100}]}`)
	f("vicuna", 96, `{"prompts":[{"fits":false,"tokenCount":5,"contextLength":100}]}`)
	f("blind", 95, `{"prompts":[{"fits":true,"tokenCount":5,"contextLength":100}]}`)
	ask("nobody", 1).Want(t, 404, "model_not_found", "model")
	ask("other", 1).Want(t, 400, "unsupported_value", "model")
}
