package openai

import (
	"errors"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

func TestVendorRequests(t *testing.T) {
	f := func(a adapters.Adapter, body string, change func(*llm.Request), path, want string) {
		t.Helper()
		members, err := jsonscan.Members([]byte(body), 128)
		if err != nil {
			t.Fatal(err)
		}
		req := &llm.Request{Model: "up", Raw: []byte(body), Members: members, N: 1, Stream: true}
		if change != nil {
			change(req)
		}
		call, err := a.Request(req)
		if err != nil {
			t.Fatal(err)
		}
		if call.Path != path || string(call.Body) != want {
			t.Errorf("%s\ngot  %s %s\nwant %s %s", body, call.Path, call.Body, path, want)
		}
	}
	const azure, mistral = "/openai/deployments/up/chat/completions", "/v1/chat/completions"
	f(Azure{}, `{"model":"m","user":"u"}`, nil, azure, `{"model":"up","user":"u","stream":true,"stream_options":{"include_usage":true}}`)
	f(Azure{}, `{}`, func(r *llm.Request) { r.Model = "a/../b?c" }, "/openai/deployments/a%2F..%2Fb%3Fc/chat/completions",
		`{"stream":true,"stream_options":{"include_usage":true}}`)
	f(Azure{}, `{"prompt":"x"}`, func(r *llm.Request) { r.Kind, r.Stream = llm.Completion, false },
		"/openai/deployments/up/completions", `{"prompt":"x","stream":false}`)
	f(Mistral{}, `{"model":"m","seed":7328334202200869666,"user":"u","top_k":1,"stream_options":{"include_usage":true},"safe_prompt":true}`, nil,
		mistral, `{"model":"up","random_seed":7328334202200869666,"safe_prompt":true,"stream":true}`)
	limit := func(r *llm.Request) { r.MaxTokens = 8 }
	f(Mistral{}, `{"max_completion_tokens":8}`, limit, mistral, `{"max_tokens":8,"stream":true}`)
	f(Mistral{}, `{"max_tokens":1,"max_completion_tokens":8}`, limit, mistral, `{"max_tokens":8,"stream":true}`)
	f(Mistral{}, `{"max_tokens":8,"max_completion_tokens":null}`, limit, mistral, `{"max_tokens":8,"stream":true}`)

	_, err := Azure{}.Request(&llm.Request{Model: "..", Raw: []byte("{}")})
	var e *llm.Error
	if !errors.As(err, &e) || e.Param != "model" {
		t.Errorf("got %v", err)
	}
	if got := (Azure{}).Traits().KeyHeader; got != "Api-Key" {
		t.Errorf("the key goes in %q", got)
	}
	if (Adapter{}).Traits().KeyHeader != "" || (Mistral{}).Traits().CanDo("prompt") {
		t.Error("the vendors' facts are mixed up")
	}
}
