package anthropic

import (
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

const (
	version   = "2023-06-01" // of the protocol; a header in the configuration may say another
	maxTokens = 4096         // where nobody says: the API wants a bound, and every model bears this one
)

// Request implements adapters.Adapter. The answer is asked for as a stream in
// any case.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	messages, err := adapters.Turns(req, "assistant", "content", func(i int) ([][]byte, error) { return blocks(req, i) })
	if err != nil {
		return adapters.Call{}, err
	}
	form, err := outputConfig(req)
	if err != nil {
		return adapters.Call{}, err
	}
	limit := req.MaxTokens
	if limit <= 0 {
		limit = maxTokens
	}
	var body adapters.Object
	body.SetText("model", req.Model)
	body.SetInt("max_tokens", limit)
	if system := adapters.SystemTexts(req); system != nil {
		body.SetText("system", strings.Join(system, "\n\n"))
	}
	body.Set("messages", messages)
	body.Set("temperature", adapters.Capped(req.Params[llm.Temperature], 1))
	body.Set("top_p", []byte(req.Params[llm.TopP]))
	body.Set("top_k", topK(req.Params[llm.TopK]))
	body.Set("stop_sequences", stops(req.Stop))
	if offered := tools(req); offered != nil {
		body.Set("tools", offered)
		body.Set("tool_choice", toolChoice(req))
	}
	body.SetObject("output_config", form)
	body.Set("thinking", adapters.Member(req, "thinking"))
	body.Set("stream", []byte("true"))
	call := adapters.PostJSON("/v1/messages", body.JSON())
	call.Header.Set("Anthropic-Version", version)
	return call, nil
}

// topK leaves out the values that mean "off" elsewhere.
func topK(value string) []byte {
	if strings.HasPrefix(value, "-") || value == "0" {
		return nil
	}
	return []byte(value)
}

// stops leaves out strings of nothing but space, which the API refuses; the
// gateway cuts at all of them itself.
func stops(list []string) []byte {
	var visible []string
	for _, s := range list {
		if strings.TrimSpace(s) != "" {
			visible = append(visible, s)
		}
	}
	if visible == nil {
		return nil
	}
	return adapters.AppendStrings(nil, visible)
}

// tools returns what the model may call; nil if nothing.
func tools(req *llm.Request) []byte {
	var list adapters.List
	for _, f := range adapters.Functions(req) {
		var tool adapters.Object
		tool.SetText("name", f.Name)
		if f.Description != "" {
			tool.SetText("description", f.Description)
		}
		if f.Parameters == nil {
			f.Parameters = []byte(`{"type":"object","properties":{}}`)
		}
		tool.Set("input_schema", f.Parameters)
		list.Add(tool.JSON())
	}
	if list.Empty() {
		return nil
	}
	return list.JSON()
}

// toolChoice returns how tools are chosen; nil if the client does not say.
func toolChoice(req *llm.Request) []byte {
	var choice adapters.Object
	one := string(adapters.Member(req, "parallel_tool_calls")) == "false"
	switch mode, name := adapters.FunctionChoice(req); mode {
	case "none":
		return []byte(`{"type":"none"}`)
	case "required":
		choice.SetText("type", "any")
	case "function":
		choice.SetText("type", "tool")
		choice.SetText("name", name)
	default:
		if mode != "auto" && !one {
			return nil
		}
		choice.SetText("type", "auto")
	}
	if one {
		choice.Set("disable_parallel_tool_use", []byte("true"))
	}
	return choice.JSON()
}

// outputConfig returns the form and the effort of the answer.
func outputConfig(req *llm.Request) (*adapters.Object, error) {
	var config adapters.Object
	switch form, schema := adapters.AnswerForm(req); form {
	case "json_schema":
		var format adapters.Object
		format.SetText("type", "json_schema")
		format.Set("schema", schema)
		config.SetObject("format", &format)
	case "json_object":
		return nil, llm.Invalid("response_format", "unsupported_value",
			"'response_format' of type 'json_object' is not supported with this model: use 'json_schema'.")
	}
	switch effort := adapters.Effort(req); effort {
	case "low", "medium", "high":
		config.SetText("effort", effort)
	}
	return &config, nil
}
