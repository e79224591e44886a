package prompt

import (
	"errors"
	"fmt"
	"strings"

	"dragoman/adapters/llm"
)

// What templates want to be given, found out by test renderings.

// render runs the template on a test conversation.
func (t *template) render(messages []llm.Message, tools []byte) (string, error) {
	return t.execute(&conversation{messages: messages, tools: tools, generate: true})
}

// probeParts finds templates that only know content as a list of parts.
func (t *template) probeParts() error {
	for _, t.parts = range []bool{false, true} {
		text, err := t.render([]llm.Message{{Role: "user", Content: wordUser}}, nil)
		if r := (*refusal)(nil); errors.As(err, &r) {
			return fmt.Errorf("a single user message is refused: %w", err)
		}
		if t.parts && err != nil {
			break
		}
		if err != nil {
			return fmt.Errorf("rendering a user message: %w", err)
		}
		if strings.Contains(text, wordUser) {
			return nil
		}
	}
	t.parts = false // as they are, user messages get lost: probe says so
	return nil
}

// probeArguments finds out how the template wants the arguments of tool calls:
// as an object, unless it cannot. JSON text is kept as the model wrote it, so it
// is preferred where the template makes the same of both.
func (t *template) probeArguments() error {
	var texts [2]string
	var failed [2]error
	for i, asObject := range []bool{false, true} {
		t.objectArgs = asObject
		text, err := t.render(toolConversation(), nil)
		// Not escaped once more, and not printed as Python prints a dictionary.
		quoted := strings.Contains(text, `\"`+wordKey) || strings.Contains(text, "'"+wordKey+"'")
		if containsAll(text, []string{wordKey, wordValue}) && !quoted {
			texts[i] = text
		}
		if r := (*refusal)(nil); !errors.As(err, &r) {
			failed[i] = err
		}
	}
	t.objectArgs = texts[1] != "" && texts[1] != texts[0] || failed[0] != nil
	if failed[0] != nil && failed[1] != nil {
		return fmt.Errorf("rendering a tool call: %w", failed[1])
	}
	return nil
}

// probeTools finds out whether the template shows the model the tools that a
// request offers.
func (t *template) probeTools() error {
	tools := fmt.Appendf(nil, `[{"type": "function", "function": {"name": %q, "description": "Looks.", "parameters": `+
		`{"type": "object", "properties": {%q: {"type": "string", "description": "A key."}}, "required": [%[2]q]}}}]`, wordTool, wordKey)
	text, err := t.render([]llm.Message{{Role: "user", Content: wordUser}}, tools)
	if r := (*refusal)(nil); errors.As(err, &r) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("rendering offered tools: %w", err)
	}
	t.tools = containsAll(text, []string{wordUser, wordTool, wordKey})
	return nil
}

// reasoningNames are what templates call the reasoning of earlier turns, the
// most usual first.
var reasoningNames = []string{"reasoning_content", "reasoning", "thinking"}

// probeReasoning finds the name by which the template reads the reasoning of a
// turn that ended in a tool call, which most keep, or of one before the last.
func (t *template) probeReasoning() error {
	raw := fmt.Appendf(nil, `{"reasoning_content": %q}`, wordReasoning)
	calls := toolConversation()
	calls[1].Raw = raw
	turns := []llm.Message{
		{Role: "user", Content: wordUser}, {Role: "assistant", Content: wordAssistant, Raw: raw}, {Role: "user", Content: wordUser2},
	}
	for _, t.reasoning = range reasoningNames {
		for _, messages := range [][]llm.Message{calls, turns} {
			text, err := t.render(messages, nil)
			if r := (*refusal)(nil); errors.As(err, &r) {
				continue
			}
			if err != nil {
				return fmt.Errorf("rendering reasoning: %w", err)
			}
			if strings.Contains(text, wordReasoning) {
				return nil
			}
		}
	}
	t.reasoning = reasoningNames[0]
	return nil
}
