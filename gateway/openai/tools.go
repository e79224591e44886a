package openai

import (
	"fmt"
	"slices"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

const maxTools = 128

// offers reads what the model may call: tools, and functions, their old form.
func (p *parser) offers() {
	p.offer("tools", "tool_choice", p.tool)
	p.offer("functions", "function_call", functionName)
}

// offer reads a list of what may be called and the choice among it. With the
// choice "none" nothing is asked of the backend: the answer is plain text.
func (p *parser) offer(list, choice string, one func(path string, value []byte) (string, error)) {
	var names []string
	if value := p.array(list, "objects"); value != nil {
		for element := range jsonscan.Elements(value) {
			name, err := one(fmt.Sprintf("%s[%d]", list, len(names)), element)
			if err != nil {
				p.fail(err)
				return
			}
			names = append(names, name)
		}
	}
	if len(names) > maxTools {
		p.fail(llm.Invalid(list, "invalid_value", "Invalid '%s': array too long. Expected an array with maximum length %d, but got an array with length %d instead.", list, maxTools, len(names)))
		return
	}
	mode := p.choice(choice, list, names)
	if len(names) == 0 || mode == "none" {
		return
	}
	p.ask.OffersTools = true
	p.need(list, list)
	if mode != "auto" {
		p.need(choice, choice)
	}
}

// tool returns the name of an element of tools.
func (p *parser) tool(path string, value []byte) (string, error) {
	kind, body, err := typed(path, value)
	if err != nil {
		return "", err
	}
	switch kind {
	case "function":
	case "custom":
		p.need("custom_tools", path+".type")
	default:
		return "", badWord(path+".type", "unsupported_value", kind, "function", "custom")
	}
	if body == nil {
		return "", missing(path + "." + kind)
	}
	return functionName(path+"."+kind, body)
}

// typed reads an object that says what it is: {"type": "x", "x": body}.
func typed(path string, value []byte) (kind string, body []byte, err error) {
	if value[0] != '{' {
		return "", nil, wrongType(path, "an object", value)
	}
	if err = each(path, value, func(name, value []byte) error {
		if string(name) == "type" {
			kind, err = requiredText(path+".type", present(value))
		}
		return err
	}); err != nil {
		return "", nil, err
	}
	if kind == "" {
		return "", nil, missing(path + ".type")
	}
	err = jsonscan.Each(value, func(name, value []byte) error {
		if string(name) == kind {
			body = present(value)
		}
		return nil
	})
	return kind, body, err
}

func functionName(path string, value []byte) (name string, err error) {
	if value[0] != '{' {
		return "", wrongType(path, "an object", value)
	}
	var raw []byte
	if err = each(path, value, func(member, value []byte) error {
		if string(member) == "name" {
			raw = present(value)
		}
		return nil
	}); err != nil {
		return "", err
	}
	if name, err = requiredText(path+".name", raw); err == nil && name == "" {
		err = llm.Invalid(path+".name", "invalid_value", "Invalid '%s.name': empty string.", path)
	}
	return name, err
}

// choice returns none, auto, or forced: anything that must be enforced.
func (p *parser) choice(field, list string, names []string) string {
	value := p.value(field)
	if value == nil {
		return "auto"
	}
	word, isWord := jsonscan.Unquote(value)
	words := []string{"none", "auto"}
	if field == "tool_choice" {
		words = append(words, "required")
	}
	switch {
	case isWord && !slices.Contains(words, word):
		p.fail(badWord(field, "invalid_value", word, words...))
		return ""
	case isWord && word != "required":
		return word
	case !isWord && value[0] != '{':
		p.fail(wrongType(field, "a string or an object", value))
		return ""
	case len(names) == 0:
		p.fail(llm.Invalid(field, "invalid_value", "Invalid value for '%s': it is only allowed when '%s' are specified.", field, list))
		return ""
	case !isWord:
		p.named(field, list, names, value)
	}
	return "forced"
}

// named checks that a choice of one function names one that is offered.
func (p *parser) named(field, list string, names []string, value []byte) {
	path := field
	if field == "tool_choice" {
		kind, body, err := typed(field, value)
		if err != nil {
			p.fail(err)
			return
		}
		switch {
		case kind == "allowed_tools":
			return // a subset: for the backend to check and enforce
		case kind != "function" && kind != "custom":
			p.fail(badWord(field+".type", "invalid_value", kind, "function", "custom", "allowed_tools"))
			return
		case body == nil:
			p.fail(missing(field + "." + kind))
			return
		}
		path, value = field+"."+kind, body
	}
	name, err := functionName(path, value)
	switch {
	case err != nil:
		p.fail(err)
	case !slices.Contains(names, name):
		p.fail(llm.Invalid(field, "invalid_value", "Invalid value for '%s': %s is not among '%s'.", field, Quote(name), list))
	}
}
