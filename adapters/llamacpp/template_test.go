package llamacpp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// server answers the questions that the adapter asks; a route that is missing
// fails.
type server map[string]string

func (s server) ask(_ context.Context, call adapters.Call) ([]byte, error) {
	text, ok := s[call.Method+" "+call.Path]
	if !ok {
		return nil, errors.New("404: no " + call.Path)
	}
	return []byte(text), nil
}

const (
	withBOS = `{"chat_template":"{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ eos_token }}{% endfor %}[assistant]","bos_token":"<s>","eos_token":"</s>"}`
	noBOS   = `{"chat_template":"{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[assistant]","bos_token":"<s>","eos_token":"</s>"}`
)

// BC-091: exactly one BOS, or what the template says where the server adds none.
func TestTemplate(t *testing.T) {
	f := func(s server, want string) {
		t.Helper()
		made, err := Adapter{}.Template(t.Context(), s.ask, "a/b")
		if err != nil {
			t.Fatal(err)
		}
		r, err := made.Render(&llm.Request{Messages: []llm.Message{{Role: "user", Content: "hi"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Prompt.Text(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	const get, tokenize = "GET /props?model=a%2Fb", "POST /tokenize"
	f(server{get: withBOS, tokenize: `{"tokens":[1,1]}`}, "[user]hi</s>[assistant]")
	f(server{get: withBOS, tokenize: `{"tokens":[1]}`}, "<s>[user]hi</s>[assistant]")
	f(server{get: withBOS}, "[user]hi</s>[assistant]")
	f(server{get: noBOS, tokenize: `{"tokens":[1,1]}`}, "[user]hi[assistant]")
	f(server{get: `{"chat_template":"{{ messages.0.content }}"}`}, "hi")
}

func TestTemplateFails(t *testing.T) {
	f := func(s server, words string) {
		t.Helper()
		_, err := Adapter{}.Template(t.Context(), s.ask, "m")
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("got %v, want %q", err, words)
		}
	}
	const get = "GET /props?model=m"
	f(server{}, "404")
	f(server{get: `{}`}, "name one with template:")
	f(server{get: `<html>`}, "properties")
	f(server{get: `{"chat_template":"{{ messages | zz }}"}`}, "zz")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"content":"x","stop":true,"stop_type":"limit","tokens_predicted":1,"timings":{"cache_n":1}}`))
	f.Add([]byte(`{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":1}}`))
	f.Add([]byte(`{"content":5,"stop":"true","timings":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Adapter{}.Decoder(nil)
		for _, event := range []string{"", "error"} {
			events, err := d.Decode(nil, frame.Frame{Event: event, Data: data})
			if event == "error" && err == nil {
				t.Errorf("an error passed as %v", events)
			}
		}
	})
}
