package openai

import "dragoman/adapters/jsonscan"

// responseFormat reads the form that the answer's text must have.
func (p *parser) responseFormat() {
	const field = "response_format"
	value := p.value(field)
	if value == nil {
		return
	}
	kind, body, err := typed(field, value)
	switch {
	case err != nil:
		p.fail(err)
	case kind == "text":
	case kind == "json_schema" && body == nil:
		p.fail(missing(field + ".json_schema"))
	case kind == "json_schema" && body[0] != '{':
		p.fail(wrongType(field+".json_schema", "an object", body))
	case kind == "json_schema" || kind == "json_object":
		p.need(field, field)
	default:
		p.fail(badWord(field+".type", "invalid_value", kind, "text", "json_object", "json_schema"))
	}
}

// audio reads what asks for an answer that is not text, or not the model's own.
func (p *parser) audio() {
	if value := p.array("modalities", "strings"); value != nil {
		for element := range jsonscan.Elements(value) {
			switch word, ok := jsonscan.Unquote(element); {
			case !ok:
				p.fail(wrongType("modalities", "an array of strings", element))
			case word == "audio":
				p.need("modalities", "modalities")
			case word != "text":
				p.fail(badWord("modalities", "invalid_value", word, "text", "audio"))
			}
		}
	}
	for _, field := range []string{"audio", "web_search_options"} {
		if p.object(field) != nil {
			p.need(field, field)
		}
	}
}
