package openai

import (
	"fmt"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

var roles = []string{"developer", "system", "user", "assistant", "tool", "function"}

func (p *parser) messages() {
	const name = "messages"
	if text, ok := jsonscan.Unquote(p.value(name)); ok { // FastChat's API: a prompt that its client made
		p.req.Kind, p.req.Prompt = llm.Completion, llm.Prompt{{Text: text}}
		return
	}
	value := p.array(name, "objects")
	if value == nil {
		p.fail(missing(name))
		return
	}
	i := 0
	for element := range jsonscan.Elements(value) {
		if p.message(i, element); p.err != nil {
			return
		}
		i++
	}
	if i == 0 {
		p.fail(llm.Invalid(name, "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1."))
	}
}

// rawMessage is a message with its members as they were sent; nil is absent or
// null.
type rawMessage struct {
	role, content, name, refusal, toolCallID, toolCalls, functionCall []byte
}

func (m *rawMessage) set(name, value []byte) {
	value = present(value)
	switch string(name) {
	case "role":
		m.role = value
	case "content":
		m.content = value
	case "name":
		m.name = value
	case "refusal":
		m.refusal = value
	case "tool_call_id":
		m.toolCallID = value
	case "tool_calls":
		m.toolCalls = value
	case "function_call":
		m.functionCall = value
	}
}

// place is where in messages something was found, for errors.
type place int

func (i place) String() string { return fmt.Sprintf("messages[%d]", int(i)) }

func (i place) member(name string) string { return i.String() + "." + name }

func (p *parser) message(i int, value []byte) {
	at := place(i)
	if value[0] != '{' {
		p.fail(wrongType(at.String(), "an object", value))
		return
	}
	var raw rawMessage
	err := jsonscan.Each(value, func(name, value []byte) error { raw.set(name, value); return nil })
	if err != nil {
		p.fail(badObject(at.String(), err))
		return
	}
	m := llm.Message{Raw: value}
	p.role(at, &raw, &m)
	m.Name = p.member(at, "name", raw.name)
	m.Content = p.content(at, m.Role, raw.content)
	switch m.Role {
	case "assistant":
		p.assistant(at, &raw, &m)
	case "tool":
		if m.ToolCallID = p.member(at, "tool_call_id", raw.toolCallID); m.ToolCallID == "" {
			p.fail(missing(at.member("tool_call_id")))
		}
	case "function": // what tools were called before there were tools
		m.Role = "tool"
		if m.Name == "" {
			p.fail(missing(at.member("name")))
		}
	case "developer":
		m.Role = "system"
	}
	p.req.Messages = append(p.req.Messages, m)
}

func (p *parser) role(at place, raw *rawMessage, m *llm.Message) {
	if raw.role == nil {
		p.fail(missing(at.member("role")))
		return
	}
	role := p.member(at, "role", raw.role)
	for _, known := range roles {
		if role == known {
			m.Role = known
			return
		}
	}
	p.fail(badWord(at.member("role"), "invalid_value", role, roles...))
}

// member reads a member of a message that is a string or left out.
func (p *parser) member(at place, name string, value []byte) string {
	if value == nil {
		return ""
	}
	text, ok := jsonscan.Unquote(value)
	if !ok {
		p.fail(wrongType(at.member(name), "a string", value))
	}
	return text
}

// assistant reads what only an assistant's message has.
func (p *parser) assistant(at place, raw *rawMessage, m *llm.Message) {
	if raw.content == nil {
		m.Content = p.member(at, "refusal", raw.refusal)
	}
	switch {
	case raw.toolCalls != nil && raw.toolCalls[0] != '[':
		p.fail(wrongType(at.member("tool_calls"), "an array of objects", raw.toolCalls))
	case raw.toolCalls != nil:
		j := 0
		for element := range jsonscan.Elements(raw.toolCalls) {
			call, err := toolCall(fmt.Sprintf("%v.tool_calls[%d]", at, j), element)
			if err != nil {
				p.fail(err)
				return
			}
			m.ToolCalls = append(m.ToolCalls, call)
			j++
		}
	case raw.functionCall != nil:
		call, err := function(at.member("function_call"), raw.functionCall)
		if err != nil {
			p.fail(err)
			return
		}
		m.ToolCalls = []llm.ToolCall{call}
	}
}
