// Package gemini speaks Google's Gemini API: POST to a model's
// streamGenerateContent, as events (without alt=sse the answer would be one
// JSON array). The key goes in a header, never in the URL.
//
// Models from Gemini 3 on want the signature of their thoughts back with the
// calls they made, for which OpenAI's messages have no place: Google's word
// that there is none is sent instead.
package gemini

import (
	"net/url"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// Adapter speaks the Gemini API. The zero value is ready.
type Adapter struct{}

var _ interface {
	adapters.Adapter
	adapters.Embedder
} = Adapter{}

var traits = adapters.Traits{
	Framing:     frame.SSE,
	Messages:    true,
	Models:      adapters.Question{Path: "/v1beta/models", Field: "models.#.name"},
	NoMaxTokens: true,
	KeyHeader:   "X-Goog-Api-Key",
	EmbedBatch:  100, // the API's limit
	Accepts: []string{
		"temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "seed", "stop", "n",
		"response_format", "tools", "tool_choice", "image_url",
	},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }

// settings are the API's names for sampling settings.
var settings = []struct {
	param llm.Param
	name  string
}{
	{llm.Temperature, "temperature"},
	{llm.TopP, "topP"},
	{llm.TopK, "topK"},
	{llm.FrequencyPenalty, "frequencyPenalty"},
	{llm.PresencePenalty, "presencePenalty"},
	{llm.Seed, "seed"},
}

// path returns the route of a model's method. The name may come from a client: it
// stays one segment of the path.
func path(model, method string) string {
	kind := "models"
	for _, known := range []string{"models", "tunedModels"} {
		if name, ok := strings.CutPrefix(model, known+"/"); ok {
			kind, model = known, name
		}
	}
	return "/v1beta/" + kind + "/" + url.PathEscape(model) + ":" + method
}
