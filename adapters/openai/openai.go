// Package openai speaks to backends that speak OpenAI's protocol more or less,
// and repairs what they get wrong: chunks are read into events, so what
// the client sees is written anew. The request goes out as the client spelled
// it, number for number and with members unknown here; only what the gateway
// decides is replaced.
//
// Calls go to /v1/chat/completions, /v1/completions and /v1/embeddings below the backend's URL;
// a version in that URL's path takes the place of this /v1 (stream.Join).
package openai

import (
	"dragoman/adapters"
	"dragoman/adapters/frame"
)

// Adapter speaks OpenAI's chat completions, completions and embeddings. The zero
// value is ready.
type Adapter struct{}

var _ interface {
	adapters.Adapter
	adapters.Embedder
} = Adapter{}

var traits = adapters.Traits{
	Framing:     frame.SSE,
	Messages:    true,
	EndMarker:   "[DONE]",
	Unary:       true,
	NoMaxTokens: true,
	Health:      adapters.Question{Path: "/v1/models"},
	Models:      adapters.Question{Path: "/v1/models", Field: "data.#.id"},
	Accepts: []string{
		"temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty",
		"repetition_penalty", "seed", "min_tokens", "stop_token_ids", "logit_bias", "logprobs", "stop",
		"prompt", "suffix", "best_of", "n", "response_format", "tools", "tool_choice",
		"image_url", "input_audio", "file", "input_ids",
	},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }
