package native

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

func TestTemplate(t *testing.T) {
	props := `{"chat_template":"{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>",` +
		`"bos_token":"<s>","eos_token":"<|end|>","add_bos":true,"special_tokens":["<|end|>","<|user|>"],"n_ctx":64}`
	ask := func(_ context.Context, call adapters.Call) ([]byte, error) {
		if call.Method != "GET" || call.Path != "/props" || call.Body != nil {
			t.Errorf("asked %+v", call)
		}
		return []byte(props), nil
	}
	template, err := Adapter{}.Template(t.Context(), ask, "m")
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.Render(&llm.Request{Messages: []llm.Message{{Role: "user", Content: "Hi <|end|>"}}})
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Prompt.Text(); text != "<|user|>Hi <|end|><|end|><|assistant|>" {
		t.Errorf("got %q", text)
	}
	for _, piece := range got.Prompt {
		if strings.Contains(piece.Text, "Hi <|end|>") {
			t.Errorf("what the user wrote is a control token in %+v", piece)
		}
	}

	props = `{"chat_template":""}`
	if _, err = (Adapter{}).Template(t.Context(), ask, "m"); err == nil || !strings.Contains(err.Error(), "template:") {
		t.Errorf("without a template: %v", err)
	}
	props = `<html>`
	if _, err = (Adapter{}).Template(t.Context(), ask, "m"); err == nil {
		t.Error("a page was taken for properties")
	}
	broken := errors.New("refused")
	_, err = Adapter{}.Template(t.Context(), func(context.Context, adapters.Call) ([]byte, error) { return nil, broken }, "m")
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestDecodeError(t *testing.T) {
	f := func(status int, body string, want int, code, message string) {
		t.Helper()
		e := Adapter{}.DecodeError(status, nil, []byte(body))
		if e == nil || e.Status != want || e.Code != code || e.Message != message {
			t.Errorf("%s: got %+v", body, e)
		}
	}
	f(400, `{"error":{"code":"context_length_exceeded","message":"70 tokens do not fit 64","n_ctx":64,"prompt_tokens":70}}`,
		400, "context_length_exceeded", "70 tokens do not fit 64")
	f(503, `{"error":{"code":"queue_full","message":"Too many."}}`, 503, "upstream_error", "Too many.")
	f(400, `{"error":{"code":"invalid_request","message":"top_p is 2"}}`, 400, "", "top_p is 2")
	f(500, `{"error":{"code":"engine_error","message":"x"}}`, 502, "upstream_error", "x")
	busy := http.Header{"Retry-After": {"3"}}
	if e := (Adapter{}).DecodeError(503, busy, []byte(`{"error":{"code":"queue_full","message":"Too many."}}`)); e == nil || e.RetryAfter != "3" {
		t.Errorf("got %+v, without Retry-After", e)
	}
	for _, body := range []string{"<html>", "{}", ""} {
		if e := (Adapter{}).DecodeError(500, nil, []byte(body)); e != nil {
			t.Errorf("%q: got %+v, not left to the shared rule", body, e)
		}
	}
}
