package prompt

import "dragoman/adapters/llm"

// The ways to reshape a conversation, each doing what those before it do.
const (
	asIs      = iota
	mergeRows // messages of one role in a row become one
	foldLater // system messages after the beginning become part of the next user message
	foldAll   // so do those at the beginning
)

// fold returns the conversation reshaped as level says. No text is lost.
func fold(messages []llm.Message, level int) []llm.Message {
	if level == asIs {
		return messages
	}
	var out []llm.Message
	pending, begun := "", false // system text to be folded; a message of another role came
	for _, m := range messages {
		if m.Role == "system" && (level == foldAll || level == foldLater && begun) {
			pending = join(pending, m.Content)
			continue
		}
		begun = begun || m.Role != "system"
		if m.Role == "user" && pending != "" {
			m.Content, m.Raw, pending = join(pending, m.Content), nil, ""
		}
		out = add(out, m)
	}
	if pending != "" {
		out = add(out, llm.Message{Role: "user", Content: pending})
	}
	return out
}

// add appends m, or joins it to the last message if both are of one role. Tool
// messages stay apart: each answers a call of its own.
func add(messages []llm.Message, m llm.Message) []llm.Message {
	if len(messages) == 0 || m.Role == "tool" || messages[len(messages)-1].Role != m.Role {
		return append(messages, m)
	}
	last := &messages[len(messages)-1]
	last.Content, last.Raw = join(last.Content, m.Content), nil
	last.ToolCalls = append(last.ToolCalls[:len(last.ToolCalls):len(last.ToolCalls)], m.ToolCalls...)
	if last.Name != m.Name {
		last.Name = ""
	}
	return messages
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n\n" + b
}
