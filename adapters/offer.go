package adapters

import (
	"github.com/tidwall/gjson"

	"dragoman/adapters/llm"
)

// Member returns the JSON text of a top-level member of the client's request;
// nil if it is absent or null, or shall not reach the backend.
func Member(req *llm.Request, name string) []byte {
	for _, m := range req.Members {
		if value := req.Raw[m.Start:m.End]; m.Name == name && !IsNull(value) {
			return value
		}
	}
	return nil
}

// Function is what a model may call.
type Function struct {
	Name, Description string
	Parameters        []byte // a JSON schema as the client spelled it; nil if there is none
}

// Functions returns what the client offers in tools or, the older form, in
// functions.
func Functions(req *llm.Request) []Function {
	var all []Function
	add := func(f gjson.Result) {
		one := Function{Name: f.Get("name").String(), Description: f.Get("description").String()}
		if schema := f.Get("parameters"); schema.IsObject() {
			one.Parameters = []byte(schema.Raw)
		}
		all = append(all, one)
	}
	for _, tool := range gjson.ParseBytes(Member(req, "tools")).Array() {
		if f := tool.Get("function"); f.IsObject() {
			add(f)
		}
	}
	for _, f := range gjson.ParseBytes(Member(req, "functions")).Array() {
		add(f)
	}
	return all
}

// FunctionChoice returns what the client says of calling functions: auto, none,
// required or, with the function's name, function. "" is nothing.
func FunctionChoice(req *llm.Request) (mode, name string) {
	for _, field := range []string{"tool_choice", "function_call"} {
		choice := gjson.ParseBytes(Member(req, field))
		switch {
		case choice.Type == gjson.String:
			return choice.String(), ""
		case choice.Get("function.name").Exists():
			return "function", choice.Get("function.name").String()
		case choice.Get("name").Exists():
			return "function", choice.Get("name").String()
		case choice.Exists(): // a part of the tools
			return choice.Get("type").String(), ""
		}
	}
	return "", ""
}

// AnswerForm returns the form that the client wants the answer's text to have:
// text, json_object or, with the schema, json_schema.
func AnswerForm(req *llm.Request) (form string, schema []byte) {
	format := gjson.ParseBytes(Member(req, "response_format"))
	switch kind := format.Get("type").String(); kind {
	case "json_schema":
		if s := format.Get("json_schema.schema"); s.IsObject() {
			return kind, []byte(s.Raw)
		}
		return kind, []byte("{}")
	case "json_object":
		return kind, nil
	}
	return "text", nil
}

// Effort returns the client's reasoning_effort, "" if it has none.
func Effort(req *llm.Request) string { return Text(Member(req, "reasoning_effort")) }
