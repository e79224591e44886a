package parse

import "dragoman/adapters"

// tag surrounds reasoning.
type tag struct {
	open, end string
	again     bool // also after the answer's beginning, where a message begins
}

// tags are those that models write as they are told by their templates.
var tags = func() (all []tag) {
	for _, t := range adapters.ReasoningTags {
		all = append(all, tag{open: t.Open, end: t.End})
	}
	return all
}()

// body is how a call goes on after what opens it.
type body uint8

const (
	objects body = iota // JSON objects {"name", "arguments"}, one or a list of them
	named               // a name, and the arguments as a JSON object
	tagged              // a name, and each argument between tags
)

// form is one notation of calls.
type form struct {
	section string   // may come before open
	open    string   // begins a call; "" where nothing does
	start   bool     // only at the beginning of an answer or a message
	body    body     //
	until   string   // named: comes between the name and the arguments
	tags    *markup  // tagged: the tags
	ends    []string // may come after the call, in this order
}

// markup is how arguments are written between tags.
type markup struct {
	afterName   string
	key, keyEnd string
	value       string // before the value
	text        string // comes before value where the argument is a string; "": the tool's schema says so
	end         string // after the value
	wrapped     bool   // a line feed at the beginning of the value, and one at its end, are no part of it
	callEnd     string // after the last argument
}

// family is a notation of models of one descent.
type family struct {
	name  string
	forms []form
	signs []string // a template for the family holds one of these

	shortIDs bool // templates want the ids of calls to be nine letters and digits

	// Messages with headers, of which an answer may have several.
	tags    []tag
	headers []string // of messages whose text is the answer's
	ends    []string // of such messages
}

// families is in the order in which signs are looked for: what one family's
// templates hold, later ones' may hold as well.
var families = []family{
	{
		name:  "harmony", // gpt-oss
		signs: []string{"to=functions."},
		tags: []tag{
			{open: "<|channel|>analysis<|message|>", end: "<|end|>", again: true},
			{open: "<|start|>assistant<|channel|>analysis<|message|>", end: "<|end|>", again: true},
		},
		headers: []string{
			"<|channel|>final<|message|>", "<|start|>assistant<|channel|>final<|message|>",
			"<|channel|>commentary<|message|>", "<|start|>assistant<|channel|>commentary<|message|>",
		},
		ends: []string{"<|end|>", "<|return|>"},
		forms: []form{
			{open: "<|start|>assistant<|channel|>commentary to=functions.", body: named, until: "<|message|>", ends: []string{"<|call|>"}},
			{open: "<|channel|>commentary to=functions.", body: named, until: "<|message|>", ends: []string{"<|call|>"}},
			{open: "<|start|>assistant to=functions.", body: named, until: "<|message|>", ends: []string{"<|call|>"}},
			{open: "to=functions.", start: true, body: named, until: "<|message|>", ends: []string{"<|call|>"}}, // the prompt ends in assistant
		},
	},
	{
		name:  "kimi",
		signs: []string{"<|tool_calls_section_begin|>"},
		forms: []form{
			{
				section: "<|tool_calls_section_begin|>", open: "<|tool_call_begin|>functions.", body: named,
				until: "<|tool_call_argument_begin|>", ends: []string{"<|tool_call_end|>", "<|tool_calls_section_end|>"},
			},
			{
				section: "<|tool_calls_section_begin|>", open: "<|tool_call_begin|>", body: named,
				until: "<|tool_call_argument_begin|>", ends: []string{"<|tool_call_end|>", "<|tool_calls_section_end|>"},
			},
		},
	},
	{
		name:  "deepseek",
		signs: []string{"<｜tool▁calls▁begin｜>"},
		forms: []form{
			{ // V3, R1
				section: "<｜tool▁calls▁begin｜>", open: "<｜tool▁call▁begin｜>function<｜tool▁sep｜>", body: named,
				until: "```json", ends: []string{"```", "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"},
			},
			{ // V3.1
				section: "<｜tool▁calls▁begin｜>", open: "<｜tool▁call▁begin｜>", body: named,
				until: "<｜tool▁sep｜>", ends: []string{"<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"},
			},
		},
	},
	dsml("｜DSML｜", "tool_calls"),
	dsml("｜DSML｜ ", "calls"),
	{
		name:    "kimi-k3",
		signs:   []string{"<|open|>call tool="},
		headers: []string{"<|open|>response<|sep|>"},
		ends:    []string{"<|close|>response<|sep|>", "<|close|>message<|sep|>"},
		forms: []form{{
			section: "<|open|>tools<|sep|>", open: `<|open|>call tool="`, body: tagged,
			tags: &markup{
				afterName: "<|sep|>", key: `<|open|>argument key="`, keyEnd: `" type="`, text: "string", value: `"<|sep|>`,
				end: "<|close|>argument<|sep|>", callEnd: "<|close|>call<|sep|>",
			},
			ends: []string{"<|close|>tools<|sep|>", "<|close|>message<|sep|>"},
		}},
	},
	{
		name:     "mistral",
		signs:    []string{"[TOOL_CALLS]"},
		shortIDs: true,
		forms: []form{
			{open: "[TOOL_CALLS]", body: objects},
			{open: "[TOOL_CALLS]", body: named, until: "[ARGS]"},
			{open: "[TOOL_CALLS]", body: named},
			{start: true, body: objects}, // from servers that hide [TOOL_CALLS]
		},
	},
	{
		name:  "glm",
		signs: []string{"<arg_key>"},
		forms: []form{{
			open: "<tool_call>", body: tagged,
			tags: &markup{key: "<arg_key>", keyEnd: "</arg_key>", value: "<arg_value>", end: "</arg_value>", callEnd: "</tool_call>"},
		}},
	},
	{
		name:  "qwen3-coder",
		signs: []string{"<function="},
		forms: []form{{
			section: "<tool_call>", open: "<function=", body: tagged, ends: []string{"</tool_call>"},
			tags: &markup{afterName: ">", key: "<parameter=", keyEnd: ">", end: "</parameter>", wrapped: true, callEnd: "</function>"},
		}},
	},
	{
		name:  "phi",
		signs: []string{"<|/tool_call|>", "<|/tool|>", "functools["},
		forms: []form{
			{open: "<|tool_call|>", body: objects, ends: []string{"<|/tool_call|>"}},
			{open: "functools", body: objects},
			{start: true, body: objects}, // from servers that hide <|tool_call|>
		},
	},
	{
		name:  "granite",
		signs: []string{"<|tool_call|>"},
		forms: []form{
			{open: "<|tool_call|>", body: objects},
			{open: "<tool_call>", body: objects, ends: []string{"</tool_call>"}},
			{start: true, body: objects}, // from servers that hide <|tool_call|>
		},
	},
	{
		name:  "hermes", // and Qwen 2.5, Qwen 3, Granite 4
		signs: []string{"<tool_call>"},
		forms: []form{{open: "<tool_call>", body: objects, ends: []string{"</tool_call>"}}},
	},
	{
		name:  "llama3",
		signs: []string{"<|python_tag|>", `{"name": function name, "parameters":`},
		forms: []form{
			{open: "<|python_tag|>", body: objects},
			{open: "<|python_start|><|python_end|>", body: objects}, // Llama 4
			{open: "<|python_start|>", body: objects, ends: []string{"<|python_end|>"}},
			{start: true, body: objects},
		},
	},
}

// dsml is the notation of DeepSeek V3.2 and V4, of which there are two spellings.
func dsml(mark, calls string) family {
	return family{
		name:  map[string]string{"calls": "deepseek-v4.1", "tool_calls": "deepseek-v3.2"}[calls],
		signs: []string{"<" + mark + "invoke name=", "<" + mark + calls + ">"},
		forms: []form{{
			section: "<" + mark + calls + ">", open: "<" + mark + `invoke name="`, body: tagged,
			tags: &markup{
				afterName: `">`, key: "<" + mark + `parameter name="`, keyEnd: `" string="`, text: "true", value: `">`,
				end: "</" + mark + "parameter>", callEnd: "</" + mark + "invoke>",
			},
			ends: []string{"</" + mark + calls + ">"},
		}},
	}
}
