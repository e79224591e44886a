package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"

	"dragoman/engine/sample"
	"dragoman/engine/sched"
)

// piece is prompt.Piece as requests spell it.
type piece struct {
	Text    string
	Special bool
}

// generateBody is the body of POST /generate. Pointers tell absent from zero.
type generateBody struct {
	Prompt       []piece
	MaxTokens    *int     `json:"max_tokens"`
	Temperature  *float64 `json:"temperature"`
	TopP         *float64 `json:"top_p"`
	TopK         *int     `json:"top_k"`
	MinP         *float64 `json:"min_p"`
	Seed         *int64   `json:"seed"`
	StopTokenIDs []int32  `json:"stop_token_ids"`
}

// request checks the body and fills in what is absent.
func (b *generateBody) request() (sched.Request, error) {
	req := sched.Request{
		Stop: b.StopTokenIDs,
		Sampling: sample.Params{
			Temperature: or(b.Temperature, 0.8),
			TopP:        or(b.TopP, 0.95),
			TopK:        max(or(b.TopK, 40), 0),
			MinP:        or(b.MinP, 0.05),
		},
		MaxTokens: or(b.MaxTokens, -1),
	}
	if b.Seed != nil {
		req.Sampling.Seed = uint64(*b.Seed)
	} else {
		req.Sampling.Seed = rand.Uint64()
	}
	switch p := req.Sampling; {
	case len(b.Prompt) == 0:
		return req, errors.New("prompt is missing: give a list of pieces")
	case req.MaxTokens == 0 || req.MaxTokens < -1:
		return req, fmt.Errorf("max_tokens is %d: give 1 or more, or -1 for no limit", req.MaxTokens)
	case p.Temperature < 0:
		return req, fmt.Errorf("temperature is %g: give 0 or more", p.Temperature)
	case p.TopP < 0 || p.TopP > 1:
		return req, fmt.Errorf("top_p is %g: give 0 to 1", p.TopP)
	case p.MinP < 0 || p.MinP > 1:
		return req, fmt.Errorf("min_p is %g: give 0 to 1", p.MinP)
	case b.TopK != nil && *b.TopK < -1:
		return req, fmt.Errorf("top_k is %d: give 1 or more, or 0 for no limit", *b.TopK)
	}
	return req, nil
}

// or returns what p points at, or def if it is absent.
func or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// readBody decodes a JSON body, or answers with an error and returns false.
func readBody(w http.ResponseWriter, r *http.Request, body any) bool {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		writeError(w, problem{
			Status: http.StatusRequestEntityTooLarge, Code: "request_too_large",
			Message: fmt.Sprintf("The request is larger than %d bytes.", MaxBody),
		})
		return false
	case err != nil:
		writeError(w, invalid("The request could not be read whole."))
		return false
	}
	if err := json.Unmarshal(data, body); err != nil {
		writeError(w, invalid(describe(err)))
		return false
	}
	return true
}

// describe says what is wrong with a JSON body in the terms of the protocol.
func describe(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		field := wrong.Field
		if field == "" {
			field = "the body"
		}
		return fmt.Sprintf("%s has the wrong type or size: %s.", field, clip(wrong.Value))
	}
	return "The body is not JSON: " + clip(err.Error()) + "."
}
