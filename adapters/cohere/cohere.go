// Package cohere speaks to Cohere's API, version 2: POST /v2/chat. Requests are
// nearly OpenAI's; an answer is a list of events, each with a type.
package cohere

import (
	"strconv"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// Adapter speaks Cohere's chat API. The zero value is ready.
type Adapter struct{}

var _ interface {
	adapters.Adapter
	adapters.Embedder
} = Adapter{}

var traits = adapters.Traits{
	Framing:      frame.SSE,
	Messages:     true,
	SingleChoice: true,
	Models:       adapters.Question{Path: "/v1/models", Field: "models.#.name"},
	NoMaxTokens:  true,
	EmbedBatch:   96, // the API's limit
	Accepts: []string{
		"temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "seed", "stop",
		"response_format", "tools", "tool_choice",
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
	{llm.TopP, "p"},
	{llm.TopK, "k"},
	{llm.FrequencyPenalty, "frequency_penalty"},
	{llm.PresencePenalty, "presence_penalty"},
	{llm.Seed, "seed"},
}

// Request implements adapters.Adapter. The answer is asked for as a stream in
// any case.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	var body adapters.Object
	body.SetText("model", req.Model)
	body.Set("messages", adapters.AppendMessages(nil, req.Messages))
	for _, s := range settings {
		body.Set(s.name, setting(s.param, req.Params[s.param]))
	}
	if req.MaxTokens > 0 {
		body.SetInt("max_tokens", req.MaxTokens)
	}
	if len(req.Stop) > 0 {
		body.Set("stop_sequences", adapters.AppendStrings(nil, req.Stop))
	}
	if tools := adapters.Member(req, "tools"); tools != nil {
		body.Set("tools", tools)
		switch mode, name := adapters.FunctionChoice(req); mode {
		case "required":
			body.SetText("tool_choice", "REQUIRED")
		case "none":
			body.SetText("tool_choice", "NONE")
		case "function":
			return adapters.Call{}, llm.Invalid("tool_choice", "unsupported_value",
				"'tool_choice' cannot name a function (%s) with this model: use 'required'.", adapters.Clip(name, 64))
		}
	}
	body.SetObject("response_format", form(req))
	switch adapters.Effort(req) {
	case "none":
		body.Set("thinking", []byte(`{"type":"disabled"}`))
	case "low", "medium", "high":
		body.Set("thinking", []byte(`{"type":"enabled"}`))
	}
	body.Set("stream", []byte("true"))
	return adapters.PostJSON("/v2/chat", body.JSON()), nil
}

// setting returns what is sent for a value. A top_k of -1 and a top_p of 1 mean
// that there is no such bound; the API takes neither, and no top_p near 0.
func setting(p llm.Param, value string) []byte {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || p == llm.TopK && n < 0 || p == llm.TopP && n > 0.99:
		return nil
	case p == llm.TopP && n < 0.01:
		return []byte("0.01")
	}
	return []byte(value)
}

// form returns the form of the answer; empty if the client does not say.
func form(req *llm.Request) *adapters.Object {
	var o adapters.Object
	kind, schema := adapters.AnswerForm(req)
	if kind != "text" {
		o.SetText("type", "json_object")
		o.Set("json_schema", schema)
	}
	return &o
}
