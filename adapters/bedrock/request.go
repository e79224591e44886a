package bedrock

import (
	"net/url"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// Request implements adapters.Adapter. The model is an id, a profile or an ARN,
// and may come from a client: it stays one segment of the path.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	if req.Model == "." || req.Model == ".." {
		return adapters.Call{}, llm.Invalid("model", "invalid_value", "Invalid 'model': no model has that name.")
	}
	messages, err := adapters.Turns(req, "assistant", "content", func(i int) ([][]byte, error) { return blocks(req, i) })
	if err != nil {
		return adapters.Call{}, err
	}
	var body, inference adapters.Object
	body.Set("messages", messages)
	body.Set("system", system(req))
	if req.MaxTokens > 0 {
		inference.SetInt("maxTokens", req.MaxTokens)
	}
	inference.Set("temperature", adapters.Capped(req.Params[llm.Temperature], 1))
	inference.Set("topP", []byte(req.Params[llm.TopP]))
	if len(req.Stop) > 0 {
		inference.Set("stopSequences", adapters.AppendStrings(nil, req.Stop))
	}
	body.SetObject("inferenceConfig", &inference)
	body.SetObject("toolConfig", toolConfig(req))
	// Signatures go by the path as it is written: AWS's own clients write no colon.
	model := strings.ReplaceAll(url.PathEscape(req.Model), ":", "%3A")
	return adapters.PostJSON("/model/"+model+"/converse-stream", body.JSON()), nil
}

// system returns the list of system texts, nil if there is none.
func system(req *llm.Request) []byte {
	var list adapters.List
	for _, text := range adapters.SystemTexts(req) {
		list.Add(textBlock(text))
	}
	if list.Empty() {
		return nil
	}
	return list.JSON()
}

func textBlock(text string) []byte {
	var o adapters.Object
	o.SetText("text", text)
	return o.JSON()
}

// blocks returns what message i says.
func blocks(req *llm.Request, i int) ([][]byte, error) {
	m := &req.Messages[i]
	if m.Role == "tool" {
		var result, o adapters.Object
		var content adapters.List
		content.Add(textBlock(m.Content))
		result.SetText("toolUseId", adapters.ResultID(req, i))
		result.Set("content", content.JSON())
		o.SetObject("toolResult", &result)
		return [][]byte{o.JSON()}, nil
	}
	parts, err := adapters.Parts(req, i)
	if err != nil {
		return nil, err
	}
	var list [][]byte
	for _, p := range parts {
		switch {
		case p.Image == nil:
			list = append(list, textBlock(p.Text))
		case p.Image.URL != "":
			return nil, adapters.InlineImage(i)
		default:
			list = append(list, imageBlock(p.Image))
		}
	}
	for j, call := range m.ToolCalls {
		input, err := adapters.Arguments(req, i, j)
		if err != nil {
			return nil, err
		}
		var use, o adapters.Object
		use.SetText("toolUseId", adapters.UseID(req, i, j))
		use.SetText("name", call.Name)
		use.Set("input", input)
		o.SetObject("toolUse", &use)
		list = append(list, o.JSON())
	}
	return list, nil
}

func imageBlock(p *adapters.Image) []byte {
	var source, image, o adapters.Object
	source.SetText("bytes", p.Data)
	image.SetText("format", strings.TrimPrefix(p.Type, "image/"))
	image.SetObject("source", &source)
	o.SetObject("image", &image)
	return o.JSON()
}

// toolConfig returns what the model may call; empty if nothing. There is no way
// to say "none" but to offer nothing.
func toolConfig(req *llm.Request) *adapters.Object {
	var config, choice, tool, none adapters.Object
	mode, name := adapters.FunctionChoice(req)
	functions := adapters.Functions(req)
	if len(functions) == 0 || mode == "none" {
		return &config
	}
	var list adapters.List
	for _, f := range functions {
		list.Add(toolSpec(f))
	}
	config.Set("tools", list.JSON())
	switch mode {
	case "auto":
		choice.Set("auto", none.JSON())
	case "required":
		choice.Set("any", none.JSON())
	case "function":
		tool.SetText("name", name)
		choice.SetObject("tool", &tool)
	}
	config.SetObject("toolChoice", &choice)
	return &config
}

func toolSpec(f adapters.Function) []byte {
	var schema, spec, o adapters.Object
	if f.Parameters == nil {
		f.Parameters = []byte(`{"type":"object","properties":{}}`)
	}
	schema.Set("json", f.Parameters)
	spec.SetText("name", f.Name)
	if f.Description != "" {
		spec.SetText("description", f.Description)
	}
	spec.SetObject("inputSchema", &schema)
	o.SetObject("toolSpec", &spec)
	return o.JSON()
}
