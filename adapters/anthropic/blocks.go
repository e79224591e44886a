package anthropic

import (
	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// blocks returns what message i says.
func blocks(req *llm.Request, i int) ([][]byte, error) {
	m := &req.Messages[i]
	if m.Role == "tool" {
		var o adapters.Object
		o.SetText("type", "tool_result")
		o.SetText("tool_use_id", adapters.ResultID(req, i))
		o.SetText("content", m.Content)
		return [][]byte{o.JSON()}, nil
	}
	parts, err := adapters.Parts(req, i)
	if err != nil {
		return nil, err
	}
	var list [][]byte
	for _, p := range parts {
		list = append(list, block(p))
	}
	for j, call := range m.ToolCalls {
		input, err := adapters.Arguments(req, i, j)
		if err != nil {
			return nil, err
		}
		var o adapters.Object
		o.SetText("type", "tool_use")
		o.SetText("id", adapters.UseID(req, i, j))
		o.SetText("name", call.Name)
		o.Set("input", input)
		list = append(list, o.JSON())
	}
	return list, nil
}

func block(p adapters.Part) []byte {
	var o, source adapters.Object
	switch {
	case p.Image == nil:
		o.SetText("type", "text")
		o.SetText("text", p.Text)
		return o.JSON()
	case p.Image.URL != "":
		source.SetText("type", "url")
		source.SetText("url", p.Image.URL)
	default:
		source.SetText("type", "base64")
		source.SetText("media_type", p.Image.Type)
		source.SetText("data", p.Image.Data)
	}
	o.SetText("type", "image")
	o.SetObject("source", &source)
	return o.JSON()
}
