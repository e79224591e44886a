package fastchat

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// A worker cuts what does not fit without a word, so the gateway asks first.
func TestFit(t *testing.T) {
	f := func(details, count string, asked, want int64, message string) {
		t.Helper()
		ask := func(_ context.Context, call adapters.Call) ([]byte, error) {
			switch got := call.Path + " " + string(call.Body); got {
			case `/model_details {"model":"m"}`:
				return []byte(details), nil
			case `/count_token {"model":"m","prompt":"Hi \"you\""}`:
				return []byte(count), nil
			default:
				return nil, fmt.Errorf("asked %s", got)
			}
		}
		req := &llm.Request{Model: "m", MaxTokens: asked, Prompt: llm.Prompt{{Text: `Hi "you"`}}}
		got, err := Adapter{}.Fit(t.Context(), ask, req)
		e := (*llm.Error)(nil)
		if message == "" && (err != nil || got != want) ||
			message != "" && (!errors.As(err, &e) || e.Status != 400 || e.Code != "context_length_exceeded" || e.Message != message) {
			t.Errorf("%s, %s, %d: got %d, %v", details, count, asked, got, err)
		}
	}
	f(`{"context_length":2048}`, `{"count":9,"error_code":0}`, 1024, 1024, "")
	f(`{"context_length":2048}`, `{"count":1500,"error_code":0}`, 1024, 547, "") // and one that the worker keeps
	f(`{"context_length":2048}`, `{"count":2046,"error_code":0}`, 1024, 1, "")
	const words = "This model's maximum context length is 2048 tokens. However, your prompt has %d tokens."
	f(`{"context_length":2048}`, `{"count":2047,"error_code":0}`, 1024, 0, fmt.Sprintf(words, 2047))
	f(`{"context_length":2048}`, `{"count":9000,"error_code":0}`, 1, 0, fmt.Sprintf(words, 9000))
	f(`{"context_length":2048}`, `{"count":9,"error_code":0}`, 0, 2038, "") // no bound: all there is
	f(`{"context_length":2048}`, `{"count":9,"error_code":0}`, llm.NoLimit, 2038, "")
	// What cannot be told changes nothing.
	f(`{}`, `{"count":9000}`, 0, 0, "")
	f(`{}`, `{"count":9000}`, 1024, 1024, "")
	f("<html>", `{"count":9000}`, 1024, 1024, "")
	f(`{"context_length":2048}`, "?", 1024, 1024, "")
}

func TestFitOfWhatCannotBeAsked(t *testing.T) {
	f := func(said error, want error) {
		t.Helper()
		n := 0
		ask := func(context.Context, adapters.Call) ([]byte, error) { n++; return nil, said }
		got, err := Adapter{}.Fit(t.Context(), ask, &llm.Request{MaxTokens: 7})
		if got != 7 || err != want || n != 1 {
			t.Errorf("%v: got %d, %v after %d questions", said, got, err, n)
		}
	}
	f(adapters.Failure(404, "Not Found"), nil) // the controller
	broken := errors.New("refused")
	f(broken, broken)
}
