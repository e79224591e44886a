package gemini

import (
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// Request implements adapters.Adapter. The answer is asked for as a stream in
// any case.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	contents, err := adapters.Turns(req, "model", "parts", func(i int) ([][]byte, error) { return parts(req, i) })
	if err != nil {
		return adapters.Call{}, err
	}
	var body adapters.Object
	body.Set("systemInstruction", instruction(req))
	body.Set("contents", contents)
	if offered := tools(req); offered != nil {
		body.Set("tools", offered)
		body.SetObject("toolConfig", toolConfig(req))
	}
	body.SetObject("generationConfig", generation(req))
	return adapters.PostJSON(path(req.Model, "streamGenerateContent?alt=sse"), body.JSON()), nil
}

func generation(req *llm.Request) *adapters.Object {
	var o adapters.Object
	for _, s := range settings {
		if value := req.Params[s.param]; s.param != llm.TopK || value != "0" && value != "-1" { // these mean "off" elsewhere
			o.Set(s.name, []byte(value))
		}
	}
	if req.MaxTokens > 0 {
		o.SetInt("maxOutputTokens", req.MaxTokens)
	}
	if len(req.Stop) > 0 {
		o.Set("stopSequences", adapters.AppendStrings(nil, req.Stop))
	}
	if req.N > 1 {
		o.SetInt("candidateCount", int64(req.N))
	}
	switch form, schema := adapters.AnswerForm(req); form {
	case "json_schema":
		o.SetText("responseMimeType", "application/json")
		o.Set("responseJsonSchema", schema)
	case "json_object":
		o.SetText("responseMimeType", "application/json")
	}
	o.SetObject("thinkingConfig", thinking(req))
	return &o
}

// budgets are what Google's own OpenAI endpoint makes of reasoning_effort, for
// models that count their thoughts.
var budgets = map[string]int64{"none": 0, "low": 1024, "medium": 8192, "high": 24576}

// thinking returns how much the model thinks, if the client says so: models from
// Gemini 3 on have levels, those before a budget.
func thinking(req *llm.Request) *adapters.Object {
	var o adapters.Object
	effort := adapters.Effort(req)
	budget, known := budgets[effort]
	switch {
	case !known:
		return &o
	case early(req.Model):
		o.SetInt("thinkingBudget", budget)
	case effort == "none":
		o.SetText("thinkingLevel", "minimal")
	default:
		o.SetText("thinkingLevel", effort)
	}
	if effort != "none" {
		o.Set("includeThoughts", []byte("true"))
	}
	return &o
}

// early reports whether a model is older than Gemini 3.
func early(model string) bool {
	return strings.Contains(model, "gemini-1") || strings.Contains(model, "gemini-2")
}

// tools returns what the model may call; nil if nothing.
func tools(req *llm.Request) []byte {
	var functions adapters.List
	for _, f := range adapters.Functions(req) {
		var o adapters.Object
		o.SetText("name", f.Name)
		o.SetText("description", f.Description)
		o.Set("parametersJsonSchema", f.Parameters)
		functions.Add(o.JSON())
	}
	if functions.Empty() {
		return nil
	}
	var tool adapters.Object
	var list adapters.List
	tool.Set("functionDeclarations", functions.JSON())
	list.Add(tool.JSON())
	return list.JSON()
}

// toolConfig returns how functions are chosen; empty if the client does not say.
func toolConfig(req *llm.Request) *adapters.Object {
	var config, calling adapters.Object
	switch mode, name := adapters.FunctionChoice(req); mode {
	case "none":
		calling.SetText("mode", "NONE")
	case "auto":
		calling.SetText("mode", "AUTO")
	case "required":
		calling.SetText("mode", "ANY")
	case "function":
		calling.SetText("mode", "ANY")
		calling.Set("allowedFunctionNames", adapters.AppendStrings(nil, []string{name}))
	}
	config.SetObject("functionCallingConfig", &calling)
	return &config
}
