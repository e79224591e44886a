package prompt

import (
	"github.com/ardanlabs/jinja"
	"github.com/tidwall/gjson"

	"dragoman/adapters/llm"
)

// messages are the conversation as the template sees it.
func (t *template) messages(c *conversation, text func(string) string) jinja.Value {
	list := make([]jinja.Value, len(c.messages))
	for i := range c.messages {
		tail := ""
		if i == len(c.messages)-1 {
			tail = c.tail
		}
		list[i] = t.message(&c.messages[i], text, tail)
	}
	return jinja.NewList(list)
}

func (t *template) message(m *llm.Message, text func(string) string, tail string) jinja.Value {
	value := jinja.NewDict()
	d := value.AsDict()
	set := func(key, s string) {
		if s != "" {
			d.Set(key, jinja.NewString(text(s)))
		}
	}
	d.Set("role", jinja.NewString(text(m.Role)))
	d.Set("content", t.content(text(m.Content)+tail))
	set("name", m.Name)
	set(t.reasoning, reasoningOf(m))
	set("tool_call_id", m.ToolCallID)
	if len(m.ToolCalls) > 0 {
		calls := make([]jinja.Value, len(m.ToolCalls))
		for i := range m.ToolCalls {
			calls[i] = t.toolCall(&m.ToolCalls[i], text)
		}
		d.Set("tool_calls", jinja.NewList(calls))
	}
	return value
}

// reasoningOf returns what an assistant's message says of how it came about,
// in the two spellings that clients use.
func reasoningOf(m *llm.Message) string {
	if m.Role != "assistant" || m.Raw == nil {
		return ""
	}
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if v := gjson.GetBytes(m.Raw, name); v.Type == gjson.String && v.Str != "" {
			return v.Str
		}
	}
	return ""
}

func (t *template) content(text string) jinja.Value {
	if !t.parts {
		return jinja.NewString(text)
	}
	return jinja.NewList([]jinja.Value{dict("type", jinja.NewString("text"), "text", jinja.NewString(text))})
}

func (t *template) toolCall(call *llm.ToolCall, text func(string) string) jinja.Value {
	arguments := jinja.NewString(text(call.Arguments))
	if t.objectArgs {
		// A model's own words: where they are no JSON, they stay as they are.
		if v, err := decode([]byte(call.Arguments), text); err == nil {
			arguments = v
		}
	}
	return dict(
		"id", jinja.NewString(text(call.ID)),
		"type", jinja.NewString("function"),
		"function", dict("name", jinja.NewString(text(call.Name)), "arguments", arguments),
	)
}

// dict returns a dictionary of keys and values in turn.
func dict(pairs ...any) jinja.Value {
	value := jinja.NewDict()
	for i := 0; i < len(pairs); i += 2 {
		value.AsDict().Set(pairs[i].(string), pairs[i+1].(jinja.Value))
	}
	return value
}
