package gemini

import (
	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// noSignature is Google's word for a call whose signature is not at hand.
const noSignature = "skip_thought_signature_validator"

// instruction returns the system instruction, nil if there is none.
func instruction(req *llm.Request) []byte {
	var parts adapters.List
	for _, text := range adapters.SystemTexts(req) {
		var o adapters.Object
		o.SetText("text", text)
		parts.Add(o.JSON())
	}
	if parts.Empty() {
		return nil
	}
	var o adapters.Object
	o.Set("parts", parts.JSON())
	return o.JSON()
}

// parts returns what message i says.
func parts(req *llm.Request, i int) ([][]byte, error) {
	m := &req.Messages[i]
	if m.Role == "tool" {
		return [][]byte{result(req, i)}, nil
	}
	content, err := adapters.Parts(req, i)
	if err != nil {
		return nil, err
	}
	var list [][]byte
	for _, p := range content {
		var o, data adapters.Object
		switch {
		case p.Image == nil:
			o.SetText("text", p.Text)
		case p.Image.URL != "":
			return nil, adapters.InlineImage(i)
		default:
			data.SetText("mimeType", p.Image.Type)
			data.SetText("data", p.Image.Data)
			o.SetObject("inlineData", &data)
		}
		list = append(list, o.JSON())
	}
	for j, call := range m.ToolCalls {
		args, err := adapters.Arguments(req, i, j)
		if err != nil {
			return nil, err
		}
		var o, function adapters.Object
		function.SetText("name", call.Name)
		function.Set("args", args)
		o.SetObject("functionCall", &function)
		if j == 0 && !early(req.Model) { // calls side by side share one
			o.SetText("thoughtSignature", noSignature)
		}
		list = append(list, o.JSON())
	}
	return list, nil
}

// result returns what a function gave back, which has to be an object.
func result(req *llm.Request, i int) []byte {
	text := req.Messages[i].Content
	response := []byte(text)
	if text == "" || text[0] != '{' || jsonscan.Valid(response, 64) != nil {
		var o adapters.Object
		o.SetText("output", text)
		response = o.JSON()
	}
	var o, function adapters.Object
	function.SetText("name", adapters.CalledName(req, i))
	function.Set("response", response)
	o.SetObject("functionResponse", &function)
	return o.JSON()
}
