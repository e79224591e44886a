// Package ollama speaks to Ollama's own API: POST /api/chat for messages, which
// Ollama puts into the model's template, /api/generate for completions and
// /api/embed for embeddings. The answer of the first two is one JSON line for each
// piece and a last one with "done":true, without which it is not complete.
//
// How long Ollama keeps a model loaded is left to Ollama's configuration.
package ollama

import (
	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// Adapter speaks Ollama's API. The zero value is ready.
type Adapter struct{}

var _ interface {
	adapters.Adapter
	adapters.Embedder
} = Adapter{}

var traits = adapters.Traits{
	Framing:      frame.NDJSON,
	Messages:     true,
	SingleChoice: true,
	Health:       adapters.Question{Path: "/api/version"},
	Models:       adapters.Question{Path: "/api/tags", Field: "models.#.name"},
	NoMaxTokens:  true,
	Accepts: []string{
		"temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty",
		"repetition_penalty", "seed", "stop", "prompt", "suffix",
		"response_format", "tools", "image_url",
	},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }

// options are Ollama's names for sampling settings.
var options = []struct {
	param llm.Param
	name  string
}{
	{llm.Temperature, "temperature"},
	{llm.TopP, "top_p"},
	{llm.TopK, "top_k"},
	{llm.MinP, "min_p"},
	{llm.FrequencyPenalty, "frequency_penalty"},
	{llm.PresencePenalty, "presence_penalty"},
	{llm.RepetitionPenalty, "repeat_penalty"},
	{llm.Seed, "seed"},
}
