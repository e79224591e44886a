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
		if err := schemaIsObject(field+".json_schema", body); err != nil {
			p.fail(err)
		}
		p.need(field, field)
	default:
		p.fail(badWord(field+".type", "invalid_value", kind, "text", "json_object", "json_schema"))
	}
}

// schemaIsObject looks at the schema in a json_schema, if there is any.
func schemaIsObject(field string, body []byte) error {
	if body == nil {
		return nil
	}
	return each(field, body, func(name, value []byte) error {
		if value = present(value); string(name) == "schema" && value != nil && value[0] != '{' {
			return wrongType(field+".schema", "an object", value)
		}
		return nil
	})
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
