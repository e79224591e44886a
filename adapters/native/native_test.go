package native

import (
	"context"
	"errors"
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
