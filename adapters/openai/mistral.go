package openai

import (
	"slices"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// Mistral speaks to Mistral's own API, which has other names for two members,
// refuses some that it does not know, and counts without being asked. The zero
// value is ready.
type Mistral struct{ Adapter }

var _ adapters.Adapter = Mistral{}

var mistralTraits = func() adapters.Traits {
	t := traits
	t.Accepts = []string{
		"temperature", "top_p", "frequency_penalty", "presence_penalty", "seed", "stop", "n",
		"response_format", "tools", "tool_choice", "image_url", "input_audio",
	}
	return t
}()

// Traits implements adapters.Adapter.
func (Mistral) Traits() *adapters.Traits { return &mistralTraits }

// mistralLacks are OpenAI's members and common extensions that the API refuses.
// All are hints.
var mistralLacks = []string{
	"logit_bias", "min_p", "min_tokens", "repetition_penalty", "safety_identifier", "service_tier",
	"stop_token_ids", "store", "top_k", "user", "verbosity",
}

// Request implements adapters.Adapter.
func (Mistral) Request(req *llm.Request) (adapters.Call, error) {
	r := *req
	r.Members = nil
	both := adapters.Member(req, "max_completion_tokens") != nil
	for _, m := range req.Members {
		switch {
		case m.Name == "max_tokens" && both, slices.Contains(mistralLacks, m.Name):
			continue
		case m.Name == "max_completion_tokens":
			m.Name = "max_tokens"
		case m.Name == "seed":
			m.Name = "random_seed"
		}
		r.Members = append(r.Members, m)
	}
	return post(&r, "/v1/chat/completions", false)
}
