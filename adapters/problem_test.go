package adapters

import "testing"

// problem is what a client sees of an error body.
func problem(t *testing.T, status int, body string, want int, code, message string) {
	t.Helper()
	e := ReadProblem([]byte(body)).Failure(status)
	if e.Status != want || e.Code != code || e.Message != message {
		t.Errorf("%d %s: got %d %q %q", status, body, e.Status, e.Code, e.Message)
	}
}

func TestProblemShapes(t *testing.T) {
	f := func(body, message string) { t.Helper(); problem(t, 500, body, 502, "upstream_error", message) }
	f(`{"error":{"message":"a","type":"b"}}`, "a")
	f(`{"error":"a"}`, "a")
	f(`[{"error":{"message":"a"}}]`, "a")
	f(`{"object":"error","message":"a"}`, "a")
	f(`{"text":"a","error_code":50001}`, "a")
	f(`{"error":{},"message":"a"}`, "a")
	f(`{"error":true,"message":"a"}`, "a")
	f(`{"error":null,"detail":"a"}`, "a")
	f(`{"detail":[{"loc":["body","n"],"msg":"a"},{"msg":"b"}]}`, "a; b")
	f(`"a"`, "a")
	for _, nothing := range []string{"", "{}", "[]", "null", "5", `{"error":null}`, `{"detail":[5]}`} {
		f(nothing, "")
	}
}

func TestProblemStatus(t *testing.T) {
	f := func(status int, body string, want int, code string) {
		t.Helper()
		problem(t, status, body, want, code, "x")
	}
	f(400, `{"error":{"message":"x","type":"invalid_request_error","code":"invalid_value"}}`, 400, "invalid_value")
	f(429, `{"error":{"message":"x","code":400}}`, 429, "upstream_error") // the answer's own status wins
	f(0, `{"error":{"message":"x","code":400}}`, 400, "")
	f(0, `{"error":{"message":"x","code":"rate_limit_exceeded"}}`, 429, "upstream_error")
	f(0, `{"error":{"message":"x","type":"overloaded_error"}}`, 503, "upstream_error")
	f(0, `{"error":{"message":"x","http_status_code":503}}`, 503, "upstream_error")
	f(0, `{"error":{"message":"x","code":50001}}`, 502, "upstream_error")
	if e := ReadProblem([]byte(`{"error":{"message":"x","param":"n"}}`)).Failure(400); e.Param != "n" {
		t.Errorf("param %q", e.Param)
	}
}

// BC-065: a prompt that is too long has a code of its own, by which clients
// know to shorten it, and words of its own that tell how much.
func TestProblemContextLength(t *testing.T) {
	f := func(status int, body, message string) {
		t.Helper()
		problem(t, status, body, 400, codeTooLong, message)
	}
	const both = "This model's maximum context length is 4 tokens. However, your prompt has 9 tokens."
	f(400, `{"error":{"code":400,"type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}`, both)
	f(500, `{"error":{"message":"9 > 4","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}`, both+" 9 > 4")
	f(0, `{"error":{"type":"exceed_context_size_error","n_ctx":4}}`, "This model's maximum context length is 4 tokens.")
	f(400, `{"error":{"code":"context_length_exceeded","message":"`+both+`","n_ctx":4,"prompt_tokens":9}}`, both)
	f(400, `{"error":{"code":"context_length_exceeded","message":"too much"}}`, "too much")
	f(422, `{"error":"`+"`inputs` tokens + `max_new_tokens` must be <= 4096"+`"}`, "`inputs` tokens + `max_new_tokens` must be <= 4096")
	problem(t, 500, `{"message":"the maximum context length of me"}`, 502, "upstream_error", "the maximum context length of me")
}
