package adaptertest

import (
	"encoding/json"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

type message struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCallID string `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// parseMessage reads a message. Parts are for adapters that read them from Raw;
// only their texts are joined here.
func parseMessage(t *testing.T, raw []byte) llm.Message {
	t.Helper()
	var in message
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatalf("request: %v", err)
	}
	out := llm.Message{Role: in.Role, ToolCallID: in.ToolCallID, Raw: raw}
	switch content := in.Content.(type) {
	case string:
		out.Content = content
	case []any:
		for _, part := range content {
			text, _ := part.(map[string]any)["text"].(string)
			out.Content += text
		}
	}
	for _, c := range in.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out
}

// parseRequest reads an OpenAI request in its plainest form: the front end's
// own reader belongs to the gateway, which adapters do not know.
func parseRequest(t *testing.T, body []byte, traits *adapters.Traits) *llm.Request {
	t.Helper()
	var in struct {
		Model               string            `json:"model"`
		Messages            []json.RawMessage `json:"messages"`
		Prompt              *string           `json:"prompt"`
		Stream              bool              `json:"stream"`
		MaxTokens           float64           `json:"max_tokens"`
		MaxCompletionTokens float64           `json:"max_completion_tokens"`
		N                   int               `json:"n"`
		Stop                []string          `json:"stop"`
		Logprobs            any               `json:"logprobs"` // a boolean in chat, a number in completions
		TopLogprobs         int               `json:"top_logprobs"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		t.Fatalf("request: %v", err)
	}
	members, err := jsonscan.Members(body, 128)
	if err != nil {
		t.Fatalf("request: %v", err)
	}
	req := &llm.Request{
		ID: "ID", Model: in.Model, Stream: in.Stream, MaxTokens: int64(in.MaxTokens), N: max(in.N, 1), Stop: in.Stop,
		Raw: body, Members: members,
	}
	if in.MaxCompletionTokens != 0 {
		req.MaxTokens = int64(in.MaxCompletionTokens)
	}
	switch logprobs := in.Logprobs.(type) {
	case bool:
		req.Logprobs, req.TopLogprobs = logprobs, in.TopLogprobs
	case float64:
		req.Logprobs, req.TopLogprobs = true, int(logprobs)
	}
	for _, m := range members {
		if p, ok := llm.ParamNamed(m.Name); ok {
			req.Params[p] = string(body[m.Start:m.End])
		}
	}
	var prompt strings.Builder
	for _, raw := range in.Messages {
		m := parseMessage(t, raw)
		req.Messages = append(req.Messages, m)
		prompt.WriteString(m.Role + ": " + m.Content + "\n")
	}
	switch {
	case in.Prompt != nil:
		req.Kind, req.Prompt = llm.Completion, llm.Prompt{{Text: *in.Prompt}}
	case !traits.Messages: // as a template would
		req.Prompt = llm.Prompt{{Text: prompt.String()}, {Text: "assistant:", Special: true}}
	}
	return req
}
