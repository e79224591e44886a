// Package llamacpp speaks to llama.cpp's llama-server over its own route, POST
// /completion: a prompt, answered by server-sent events of one token each and a
// last one with stop:true that says why. The chat template is the model's own
// (template.go). Closing the connection frees the server's slot.
//
// Facts about servers that shaped the code: a stop that is no list is ignored
// without a word; without n_predict there is no limit; until September 2025 an
// error in the middle came in a field "error:" instead of "data:"; older ones
// say why they stopped in flags of their own.
package llamacpp

import (
	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Adapter speaks llama-server's completion route. The zero value is ready.
type Adapter struct{}

var _ interface {
	adapters.Adapter
	adapters.Templater
	adapters.Embedder
} = Adapter{}

var traits = adapters.Traits{
	Framing:      frame.SSE,
	SingleChoice: true,
	Health:       adapters.Question{Path: "/health"},
	Models:       adapters.Question{Path: "/v1/models", Field: "data.#.id"},
	NoMaxTokens:  true,
	Accepts: []string{
		"temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty",
		"repetition_penalty", "seed", "logit_bias", "stop", "response_format",
		"input_ids",
	},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }

// names are the settings that the server reads, by its own names.
var names = []struct {
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

// Request implements adapters.Adapter. A server that has one model ignores the
// model; one that is a router needs it.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	var body adapters.Object
	body.SetText("model", req.Model)
	body.SetText("prompt", req.Prompt.Text())
	body.Set("stream", []byte("true"))
	body.Set("cache_prompt", []byte("true")) // older ones forget the prompt otherwise
	if req.MaxTokens > 0 {
		body.SetInt("n_predict", req.MaxTokens)
	}
	for _, p := range names {
		body.Set(p.name, []byte(req.Params[p.param]))
	}
	if len(req.Stop) > 0 {
		body.Set("stop", adapters.AppendStrings(nil, req.Stop))
	}
	body.Set("logit_bias", biases(req.Params[llm.LogitBias]))
	switch form, schema := adapters.AnswerForm(req); form {
	case "json_schema":
		body.Set("json_schema", schema)
	case "json_object":
		body.Set("json_schema", []byte(`{"type":"object"}`))
	}
	return adapters.PostJSON("/completion", body.JSON()), nil
}

// biases turns OpenAI's object of biases into the list of pairs that servers of
// any age read.
func biases(object string) []byte {
	var list adapters.List
	for id, bias := range jsonscan.All([]byte(object)) {
		list.Add([]byte("[" + string(id) + "," + string(bias) + "]"))
	}
	if list.Empty() {
		return nil
	}
	return list.JSON()
}
