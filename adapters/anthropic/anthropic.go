// Package anthropic speaks Anthropic's Messages API: POST /v1/messages. System
// messages stand beside the conversation, whose turns are the user's and the
// assistant's in alternation; a turn is a list of blocks. An answer is a list of
// blocks too, each of which begins, grows and ends by events of its own.
//
// What the API wants back with a model's thoughts in later turns (signatures)
// has no place in OpenAI's messages: thoughts go out as reasoning and do not
// come back.
package anthropic

import (
	"dragoman/adapters"
	"dragoman/adapters/frame"
)

// Adapter speaks the Messages API. The zero value is ready.
type Adapter struct{}

var _ adapters.Adapter = Adapter{}

var traits = adapters.Traits{
	Framing:      frame.SSE,
	Messages:     true,
	SingleChoice: true,
	Models:       adapters.Question{Path: "/v1/models", Field: "data.#.id"},
	KeyHeader:    "X-Api-Key",
	Accepts: []string{
		"temperature", "top_p", "top_k", "stop",
		"response_format", "tools", "tool_choice", "image_url",
	},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }
