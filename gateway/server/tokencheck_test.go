package server

import "testing"

func TestTokenCheck(t *testing.T) {
	g := hello(t, Options{})
	ask := func(prompt string) reply {
		return g.do("POST", "/api/v1/token_check", `{"prompts":[{"model":"hello","prompt":"`+prompt+`","max_tokens":3},{"model":"hello","prompt":"seven..","max_tokens":1}]}`)
	}
	want := `{"prompts":[{"fits":true,"tokenCount":5,"contextLength":8},{"fits":true,"tokenCount":7,"contextLength":8}]}`
	if got := ask("five."); got.StatusCode != 200 || got.body != want {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	want = `{"prompts":[{"fits":false,"tokenCount":6,"contextLength":8},{"fits":true,"tokenCount":7,"contextLength":8}]}`
	if got := ask("six..."); got.StatusCode != 200 || got.body != want {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
	wantError(t, ask("#fail"), 502, "server_error", "upstream_error")
	wantError(t, g.do("POST", "/api/v1/token_check", `{"prompts":[{"model":"x","prompt":"","max_tokens":3}]}`), 404, "invalid_request_error", "model_not_found")
	wantError(t, g.do("POST", "/api/v1/token_check", `{}`), 400, "invalid_request_error", "missing_required_parameter")
	wantError(t, g.do("GET", "/api/v1/token_check", ""), 405, "invalid_request_error", "method_not_supported")
}

func TestFastChatsChatRoute(t *testing.T) {
	g := hello(t, Options{})
	one, other := g.do("POST", "/api/v1/chat/completions", chatBody("hello", false)), g.do("POST", "/v1/chat/completions", chatBody("hello", false))
	if one.StatusCode != 200 || len(one.body) != len(other.body) {
		t.Errorf("got %d %s, want %s", one.StatusCode, one.body, other.body)
	}
}
