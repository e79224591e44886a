// Package bedrock speaks to AWS Bedrock's ConverseStream, whose answers are
// binary messages.
package bedrock

import (
	"dragoman/adapters"
	"dragoman/adapters/frame"
)

// Adapter speaks ConverseStream. The zero value is ready.
type Adapter struct{}

var _ adapters.Adapter = Adapter{}

var traits = adapters.Traits{
	Framing:      frame.AWS,
	Messages:     true,
	SingleChoice: true,
	NoMaxTokens:  true,
	Signing:      "bedrock",
	Accepts:      []string{"temperature", "top_p", "stop", "tools", "tool_choice", "image_url"},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }
