package ollama

import (
	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// Request implements adapters.Adapter. The answer is asked for as a stream in
// any case.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	var body adapters.Object
	body.SetText("model", req.Model)
	path := "/api/chat"
	if req.Kind == llm.Completion {
		path = "/api/generate"
		body.SetText("prompt", req.Prompt.Text())
		if suffix := adapters.Member(req, "suffix"); suffix != nil {
			body.Set("suffix", suffix) // the model's template knows where it goes
		} else {
			body.Set("raw", []byte("true"))
		}
	} else {
		messages, err := conversation(req)
		if err != nil {
			return adapters.Call{}, err
		}
		body.Set("messages", messages)
		// There is no way to say "none" but to offer nothing.
		if mode, _ := adapters.FunctionChoice(req); mode != "none" {
			body.Set("tools", tools(req))
		}
	}
	switch form, schema := adapters.AnswerForm(req); form {
	case "json_schema":
		body.Set("format", schema)
	case "json_object":
		body.SetText("format", "json")
	}
	switch effort := adapters.Effort(req); effort {
	case "none":
		body.Set("think", []byte("false"))
	case "low", "medium", "high":
		body.SetText("think", effort)
	}
	body.Set("stream", []byte("true"))
	body.SetObject("options", settings(req))
	return adapters.PostJSON(path, body.JSON()), nil
}

func settings(req *llm.Request) *adapters.Object {
	var o adapters.Object
	for _, s := range options {
		o.Set(s.name, []byte(req.Params[s.param]))
	}
	if req.MaxTokens > 0 || req.MaxTokens == llm.NoLimit {
		o.SetInt("num_predict", req.MaxTokens) // -1 is Ollama's word for no limit, too
	}
	if len(req.Stop) > 0 {
		o.Set("stop", adapters.AppendStrings(nil, req.Stop))
	}
	return &o
}

// tools returns what the model may call, in OpenAI's form; nil if nothing.
func tools(req *llm.Request) []byte {
	if list := adapters.Member(req, "tools"); list != nil {
		return list
	}
	var list adapters.List
	for _, f := range adapters.Functions(req) {
		var function, tool adapters.Object
		function.SetText("name", f.Name)
		function.SetText("description", f.Description)
		function.Set("parameters", f.Parameters)
		tool.SetText("type", "function")
		tool.SetObject("function", &function)
		list.Add(tool.JSON())
	}
	if list.Empty() {
		return nil
	}
	return list.JSON()
}

func conversation(req *llm.Request) ([]byte, error) {
	var list adapters.List
	for i := range req.Messages {
		m := &req.Messages[i]
		var o adapters.Object
		o.SetText("role", m.Role)
		o.SetText("content", m.Content)
		pictures, err := images(req, i)
		if err != nil {
			return nil, err
		}
		o.Set("images", pictures)
		calls, err := toolCalls(req, i)
		if err != nil {
			return nil, err
		}
		o.Set("tool_calls", calls)
		if m.Role == "tool" {
			o.SetText("tool_name", adapters.CalledName(req, i))
			if m.ToolCallID != "" {
				o.SetText("tool_call_id", m.ToolCallID)
			}
		}
		list.Add(o.JSON())
	}
	return list.JSON(), nil
}

// images returns the pictures of a message in base64, as Ollama fetches none;
// nil if it has none.
func images(req *llm.Request, i int) ([]byte, error) {
	parts, err := adapters.Parts(req, i)
	if err != nil {
		return nil, err
	}
	var list adapters.List
	for _, p := range parts {
		switch {
		case p.Image == nil:
		case p.Image.URL != "":
			return nil, adapters.InlineImage(i)
		default:
			list.Add(adapters.AppendString(nil, p.Image.Data))
		}
	}
	if list.Empty() {
		return nil, nil
	}
	return list.JSON(), nil
}

// toolCalls returns the calls of a message, with arguments that are objects;
// nil if it has none.
func toolCalls(req *llm.Request, i int) ([]byte, error) {
	calls := req.Messages[i].ToolCalls
	if len(calls) == 0 {
		return nil, nil
	}
	var list adapters.List
	for j, call := range calls {
		args, err := adapters.Arguments(req, i, j)
		if err != nil {
			return nil, err
		}
		var function, o adapters.Object
		function.SetText("name", call.Name)
		function.Set("arguments", args)
		if call.ID != "" {
			o.SetText("id", call.ID)
		}
		o.SetObject("function", &function)
		list.Add(o.JSON())
	}
	return list.JSON(), nil
}
