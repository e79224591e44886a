package adapters

import (
	"errors"
	"testing"

	"dragoman/adapters/llm"
)

func TestFinishWord(t *testing.T) {
	f := func(word string, want llm.Finish, status int) {
		t.Helper()
		got, err := FinishWord(word, map[string]llm.Finish{"zzz": llm.FinishLength, "cancelled": llm.FinishStop})
		var e *llm.Error
		if got != want || errors.As(err, &e) != (status != 0) || e != nil && e.Status != status {
			t.Errorf("%s: got %q, %v; want %q, status %d", word, got, err, want, status)
		}
	}
	f("stop", "stop", 0)
	f("eos", "stop", 0)
	f("length", "length", 0)
	f("function_call", "tool_calls", 0)
	f("content_filter", "content_filter", 0)
	f("something new", "stop", 0)
	f("error", "", 502)
	f("abort", "", 502)
	f("preempt", "", 502)
	f("timeout", "", 504)
	// What an adapter says of its words comes first.
	f("zzz", "length", 0)
	f("cancelled", "stop", 0)
}

func TestFailure(t *testing.T) {
	f := func(status int, want int, kind, code string) {
		t.Helper()
		e := Failure(status, "words")
		if e.Status != want || e.Type != kind || e.Code != code {
			t.Errorf("%d: got %d %s %q", status, e.Status, e.Type, e.Code)
		}
		if secret := code == "upstream_auth"; (e.Message == "words") == secret {
			t.Errorf("%d: says %q", status, e.Message)
		}
	}
	f(400, 400, "invalid_request_error", "")
	f(413, 400, "invalid_request_error", "")
	f(422, 400, "invalid_request_error", "")
	f(401, 502, "server_error", "upstream_auth")
	f(403, 502, "server_error", "upstream_auth")
	f(404, 502, "server_error", "upstream_not_found")
	f(429, 429, "server_error", "upstream_error")
	f(503, 503, "server_error", "upstream_error")
	f(504, 504, "server_error", "upstream_error")
	f(500, 502, "server_error", "upstream_error")
	f(0, 502, "server_error", "upstream_error")
}
