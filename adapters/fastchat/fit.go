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
// a prompt only the last tokens that fit beside max_new_tokens and one more, and
// takes 256 where it is not told how many those are. FastChat's own API server
// asks the same two questions before each call, and gives an answer without a
// bound all the room there is. The controller cannot be asked: then nothing is
// known.
func (a Adapter) Fit(ctx context.Context, ask adapters.Ask, req *llm.Request) (int64, error) {
	count, size, err := a.Count(ctx, ask, req.Model, req.Prompt.Text())
	if err != nil || size <= 0 {
		return req.MaxTokens, err
	}
	room := int64(size - count - 1)
	switch {
	case room < 1:
		return 0, adapters.Problem{Code: "context_length_exceeded", Context: size, Prompt: count}.Failure(http.StatusBadRequest)
	case req.MaxTokens <= 0:
		return room, nil
	}
	return min(req.MaxTokens, room), nil
}

// Count implements adapters.Counter. The counts are 0 where the server does not
// know the questions.
func (Adapter) Count(ctx context.Context, ask adapters.Ask, model, prompt string) (tokens, size int, err error) {
	body := adapters.AppendString([]byte(`{"model":`), model)
	size, err = number(ctx, ask, "/model_details", append(slices.Clone(body), '}'), "context_length")
	if err != nil || size <= 0 {
		return 0, 0, err
	}
	body = adapters.AppendString(append(body, `,"prompt":`...), prompt)
	tokens, err = number(ctx, ask, "/count_token", append(body, '}'), "count")
	return tokens, size, err
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
