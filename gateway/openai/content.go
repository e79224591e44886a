package openai

import (
	"fmt"
	"strings"

	"dragoman/adapters/jsonscan"
)

// content returns a message's text. It may be left out by an assistant, which
// perhaps called tools instead, and by the old role function.
func (p *parser) content(at place, role string, value []byte) string {
	switch {
	case value == nil && (role == "assistant" || role == "function"):
		return ""
	case value == nil:
		p.fail(missing(at.member("content")))
		return ""
	case value[0] == '[':
		return p.parts(at, value)
	}
	text, ok := jsonscan.Unquote(value)
	if !ok {
		p.fail(wrongType(at.member("content"), "a string or an array of content parts", value))
	}
	return text
}

// parts joins the texts of content parts, with nothing between, as the parts of
// one text. A part that is no text becomes a need: it must not be lost.
func (p *parser) parts(at place, array []byte) string {
	var text strings.Builder
	j := 0
	for element := range jsonscan.Elements(array) {
		part, err := p.part(fmt.Sprintf("%v.content[%d]", at, j), element)
		if err != nil {
			p.fail(err)
			return ""
		}
		text.WriteString(part)
		j++
	}
	return text.String()
}

func (p *parser) part(path string, value []byte) (string, error) {
	if value[0] != '{' {
		return "", wrongType(path, "an object", value)
	}
	var kind, text, refusal []byte
	err := each(path, value, func(name, value []byte) error {
		switch string(name) {
		case "type":
			kind = present(value)
		case "text":
			text = present(value)
		case "refusal":
			refusal = present(value)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if kind == nil {
		return "", missing(path + ".type")
	}
	switch name, _ := jsonscan.Unquote(kind); name {
	case "text":
		return requiredText(path+".text", text)
	case "refusal":
		return requiredText(path+".refusal", refusal)
	case "image_url", "input_audio", "file":
		p.need(name, path+".type")
		return "", nil
	default:
		if kind[0] != '"' {
			return "", wrongType(path+".type", "a string", kind)
		}
		return "", badWord(path+".type", "unsupported_value", name, "text", "refusal", "image_url", "input_audio", "file")
	}
}

func requiredText(path string, value []byte) (string, error) {
	if value == nil {
		return "", missing(path)
	}
	text, ok := jsonscan.Unquote(value)
	if !ok {
		return "", wrongType(path, "a string", value)
	}
	return text, nil
}
