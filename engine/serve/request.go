package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	Client       string
	MaxTokens    *int     `json:"max_tokens"`
	Temperature  *float64 `json:"temperature"`
	TopP         *float64 `json:"top_p"`
	TopK         *int     `json:"top_k"`
	MinP         *float64 `json:"min_p"`
	Seed         *int64   `json:"seed"`
	StopTokenIDs []int32  `json:"stop_token_ids"`

	FrequencyPenalty  float64           `json:"frequency_penalty"`
	PresencePenalty   float64           `json:"presence_penalty"`
	RepetitionPenalty *float64          `json:"repetition_penalty"`
	LogitBias         map[int32]float64 `json:"logit_bias"`
	MinTokens         int               `json:"min_tokens"`
	Logprobs          *int
	Spell             []string

	// The form of the answer: at most one of these.
	JSON       bool            `json:"json"`
	JSONSchema json.RawMessage `json:"json_schema"`
	Grammar    *string         `json:"grammar"`
	After      []string        // the form begins behind one of these
}

// Bounds of what a request may ask for.
const (
	maxPenalty = 2
	maxBias    = 100 // and -100 bans
	maxTop     = 20
)

// request checks the body, for a vocabulary of that size, and fills in what is
// absent.
func (b *generateBody) request(vocabulary int) (*sched.Request, *problem) {
	req := &sched.Request{
		Client: b.Client,
		Stop:   b.StopTokenIDs,
		Sampling: sample.Params{
			Temperature: or(b.Temperature, 0.8),
			TopP:        or(b.TopP, 0.95),
			TopK:        max(or(b.TopK, 40), 0),
			MinP:        or(b.MinP, 0.05),
			Frequency:   b.FrequencyPenalty,
			Presence:    b.PresencePenalty,
			Repetition:  or(b.RepetitionPenalty, 1),
			MinTokens:   b.MinTokens,
			Logprobs:    b.Logprobs != nil,
			Top:         or(b.Logprobs, 0),
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
		return nil, wrong("prompt", "prompt is missing: give a list of pieces")
	case req.MaxTokens == 0 || req.MaxTokens < -1:
		return nil, wrong("max_tokens", "max_tokens is %d: give 1 or more, or -1 for no limit", req.MaxTokens)
	case p.Temperature < 0:
		return nil, wrong("temperature", "temperature is %g: give 0 or more", p.Temperature)
	case p.TopP < 0 || p.TopP > 1:
		return nil, wrong("top_p", "top_p is %g: give 0 to 1", p.TopP)
	case p.MinP < 0 || p.MinP > 1:
		return nil, wrong("min_p", "min_p is %g: give 0 to 1", p.MinP)
	case b.TopK != nil && *b.TopK < -1:
		return nil, wrong("top_k", "top_k is %d: give 1 or more, or 0 for no limit", *b.TopK)
	case math.Abs(p.Frequency) > maxPenalty:
		return nil, wrong("frequency_penalty", "frequency_penalty is %g: give -%d to %d", p.Frequency, maxPenalty, maxPenalty)
	case math.Abs(p.Presence) > maxPenalty:
		return nil, wrong("presence_penalty", "presence_penalty is %g: give -%d to %d", p.Presence, maxPenalty, maxPenalty)
	case p.Repetition <= 0:
		return nil, wrong("repetition_penalty", "repetition_penalty is %g: give more than 0; 1 is none", p.Repetition)
	case p.MinTokens < 0:
		return nil, wrong("min_tokens", "min_tokens is %d: give 0 or more", p.MinTokens)
	case req.MaxTokens > 0 && p.MinTokens > req.MaxTokens:
		return nil, wrong("min_tokens", "min_tokens is %d, more than max_tokens", p.MinTokens)
	case p.Top < 0 || p.Top > maxTop:
		return nil, wrong("logprobs", "logprobs is %d: give 0 to %d", p.Top, maxTop)
	}
	for id, bias := range b.LogitBias {
		switch {
		case id < 0 || int(id) >= vocabulary:
			return nil, wrong("logit_bias", "logit_bias has token %d: this model's are 0 to %d", id, vocabulary-1)
		case math.Abs(bias) > maxBias:
			return nil, wrong("logit_bias", "logit_bias of token %d is %g: give -%d to %d", id, bias, maxBias, maxBias)
		case bias == -maxBias:
			bias = math.Inf(-1)
		}
		req.Sampling.Bias = append(req.Sampling.Bias, sample.Bias{ID: id, Add: bias})
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
