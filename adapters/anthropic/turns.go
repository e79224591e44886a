package anthropic

import (
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// turn is what one side says until the other does.
type turn struct {
	role   string
	blocks adapters.List
}

// conversation returns the system text and the turns. The results of several
// calls must stand in one turn, so messages of one side are joined.
func conversation(req *llm.Request) (system string, messages []byte, err error) {
	var instructions []string
	var turns []*turn
	for i := range req.Messages {
		m := &req.Messages[i]
		if m.Role == "system" {
			instructions = append(instructions, m.Content)
			continue
		}
		role := "user"
		if m.Role == "assistant" {
			role = m.Role
		}
		said, err := blocks(req, i)
		if err != nil {
			return "", nil, err
		}
		if len(said) == 0 {
			continue // the API takes no empty text
		}
		if len(turns) == 0 || turns[len(turns)-1].role != role {
			turns = append(turns, &turn{role: role})
		}
		for _, b := range said {
			turns[len(turns)-1].blocks.Add(b)
		}
	}
	var list adapters.List
	for _, t := range turns {
		var o adapters.Object
		o.SetText("role", t.role)
		o.Set("content", t.blocks.JSON())
		list.Add(o.JSON())
	}
	return strings.Join(instructions, "\n\n"), list.JSON(), nil
}

// blocks returns what message i says.
func blocks(req *llm.Request, i int) ([][]byte, error) {
	m := &req.Messages[i]
	if m.Role == "tool" {
		var o adapters.Object
		o.SetText("type", "tool_result")
		o.SetText("tool_use_id", m.ToolCallID)
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
		o.SetText("id", call.ID)
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
