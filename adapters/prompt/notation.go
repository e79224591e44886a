package prompt

import "dragoman/adapters/llm"

// notation returns what tells how the template's model writes reasoning and
// tool calls: the template's source, and, as templates put texts together, what
// it makes of a call.
func (t *template) notation(src string) string {
	call := toolConversation()[:2]
	call[1].Raw = []byte(`{"reasoning_content":"` + wordAssistant + `"}`)
	for _, messages := range [][]llm.Message{toolConversation(), call} {
		if text, err := t.render(messages, nil); err == nil {
			src += "\n" + text
		}
	}
	return src
}
