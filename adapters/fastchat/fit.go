package fastchat

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Fit implements adapters.Fitter. A worker that runs on transformers keeps of
// a prompt only the last tokens that fit beside max_new_tokens and one more, so
// that a default of 1024 costs half of what a model of 2048 can read. FastChat's
// own API server asks the same two questions before each call. The controller
// cannot be asked: then nothing is known.
func (Adapter) Fit(ctx context.Context, ask adapters.Ask, req *llm.Request) (int64, error) {
	model := adapters.AppendString([]byte(`{"model":`), req.Model)
	size, err := number(ctx, ask, "/model_details", append(slices.Clone(model), '}'), "context_length")
	if err != nil || size <= 0 {
		return req.MaxTokens, err
	}
	prompt := adapters.AppendString(append(model, `,"prompt":`...), req.Prompt.Text())
	count, err := number(ctx, ask, "/count_token", append(prompt, '}'), "count")
	if err != nil {
		return 0, err
	}
	room := int64(size - count - 1)
	if room < 1 {
		return 0, adapters.Problem{Code: "context_length_exceeded", Context: size, Prompt: count}.Failure(http.StatusBadRequest)
	}
	return min(req.MaxTokens, room), nil
}

// number asks for a number; 0 is an answer without it, or no such route.
func number(ctx context.Context, ask adapters.Ask, path string, body []byte, member string) (int, error) {
	answer, err := ask(ctx, adapters.PostJSON(path, body))
	if e := (*llm.Error)(nil); errors.As(err, &e) && e.Code == "upstream_not_found" {
		return 0, nil
	}
	if err != nil || adapters.CheckJSON(answer) != nil {
		return 0, err
	}
	n := 0
	for name, value := range jsonscan.All(answer) {
		if string(name) == member {
			n = adapters.Int(value)
		}
	}
	return n, nil
}
