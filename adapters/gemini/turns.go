package gemini

import (
	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// noSignature is Google's word for a call whose signature is not at hand.
const noSignature = "skip_thought_signature_validator"

// turn is what one side says until the other does.
type turn struct {
	role  string
	parts adapters.List
}

// conversation returns the system instruction, nil if there is none, and the
// turns. The results of several calls must stand in one turn, so messages of
// one side are joined.
func conversation(req *llm.Request) (system, contents []byte, err error) {
	var instruction adapters.List
	var turns []*turn
	for i := range req.Messages {
		m := &req.Messages[i]
		said, err := parts(req, i)
		if err != nil {
			return nil, nil, err
		}
		if m.Role == "system" {
			for _, p := range said {
				instruction.Add(p)
			}
			continue
		}
		role := "user"
		if m.Role == "assistant" {
			role = "model"
		}
		if len(said) == 0 {
			continue // the API takes no turn without parts
		}
		if len(turns) == 0 || turns[len(turns)-1].role != role {
			turns = append(turns, &turn{role: role})
		}
		for _, p := range said {
			turns[len(turns)-1].parts.Add(p)
		}
	}
	if !instruction.Empty() {
		var o adapters.Object
		o.Set("parts", instruction.JSON())
		system = o.JSON()
	}
	var list adapters.List
	for _, t := range turns {
		var o adapters.Object
		o.SetText("role", t.role)
		o.Set("parts", t.parts.JSON())
		list.Add(o.JSON())
	}
	return system, list.JSON(), nil
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
