package openai

import (
	"fmt"
	"testing"

	"dragoman/adapters/llm"
)

// conversation wraps messages into a request.
func conversation(messages string) string { return `{"model":"m","messages":[` + messages + `]}` }

// shown writes messages as role(content), with their calls.
func shown(a *Ask) string {
	s := ""
	for _, m := range a.Request.Messages {
		s += fmt.Sprintf("%s(%s)", m.Role, m.Content)
		if m.Name != "" || m.ToolCallID != "" {
			s += fmt.Sprintf("[%s %s]", m.Name, m.ToolCallID)
		}
		for _, c := range m.ToolCalls {
			s += fmt.Sprintf("<%s %s %s>", c.ID, c.Name, c.Arguments)
		}
		s += " "
	}
	return s
}

func wantMessages(t *testing.T, messages, want string) {
	t.Helper()
	if got := shown(accept(t, conversation(messages))); got != want+" " {
		t.Errorf("%s\ngot  %s\nwant %s", messages, got, want)
	}
}

func TestCheck25_BC063_PartsAreOneText(t *testing.T) {
	wantMessages(t, `{"role":"user","content":"AAABBB"}`, "user(AAABBB)")
	wantMessages(t, `{"role":"user","content":[{"type":"text","text":"AAA"},{"type":"text","text":"BBB","cache_control":{}}]},
		{"role":"assistant","content":[{"type":"text","text":"CCC"}]},{"role":"user","content":"DDD"}`,
		"user(AAABBB) assistant(CCC) user(DDD)")
	wantMessages(t, `{"role":"tool","tool_call_id":"x","content":[{"type":"text","text":"a"}]}`, "tool(a)[ x]")
	wantMessages(t, `{"role":"user","content":[]}`, "user()")
	wantMessages(t, `{"role":"user","content":"\ud83d\ude00\u0000"}`, "user(\U0001f600\x00)")
}

func TestCheck26_AssistantContent(t *testing.T) {
	const calls = `"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"x\": 1}"}}]`
	wantMessages(t, `{"role":"assistant","content":null,`+calls+`}`, `assistant()<call_1 f {"x": 1}>`)
	wantMessages(t, `{"role":"assistant",`+calls+`}`, `assistant()<call_1 f {"x": 1}>`)
	wantMessages(t, `{"role":"assistant","content":"",`+calls+`}`, `assistant()<call_1 f {"x": 1}>`)
	wantMessages(t, `{"role":"assistant","content":null}`, `assistant()`)
	wantMessages(t, `{"role":"assistant","content":null,"tool_calls":null}`, `assistant()`)
	wantMessages(t, `{"role":"assistant","content":"x","tool_calls":[]}`, `assistant(x)`)
	wantMessages(t, `{"role":"assistant","content":null,"refusal":"No."}`, `assistant(No.)`)
	wantMessages(t, `{"role":"assistant","content":[{"type":"refusal","refusal":"No."}]}`, `assistant(No.)`)
	refuse(t, conversation(`{"role":"user","content":"x"},{"role":"assistant","content":5}`), "messages[1].content", "invalid_type")
	refuse(t, conversation(`{"role":"user","content":{}}`), "messages[0].content", "invalid_type")
	refuse(t, conversation(`{"role":"user","content":null}`), "messages[0].content", "missing_required_parameter")
	refuse(t, conversation(`{"role":"user"}`), "messages[0].content", "missing_required_parameter")
}

func TestSloppyToolCalls(t *testing.T) {
	wantMessages(t, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":{ "x" : "a b", "n": 1.50 }}}]}`,
		`assistant()<c f {"x":"a b","n":1.50}>`)
	wantMessages(t, `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f"}}]}`, `assistant()<c f >`)
	const path = "messages[0].tool_calls"
	f := func(calls, param, code string) {
		t.Helper()
		refuse(t, conversation(`{"role":"assistant","tool_calls":`+calls+`}`), path+param, code)
	}
	f(`{}`, "", "invalid_type")
	f(`[1]`, "[0]", "invalid_type")
	f(`[{"id":"c","type":"function"}]`, "[0].function", "missing_required_parameter")
	f(`[{"id":"c","type":"custom","function":{"name":"f"}}]`, "[0].type", "unsupported_value")
	f(`[{"function":{"name":"f"}}]`, "[0].id", "missing_required_parameter")
	f(`[{"id":"c","function":{}}]`, "[0].function.name", "missing_required_parameter")
	f(`[{"id":"c","function":{"name":"f","arguments":5}}]`, "[0].function.arguments", "invalid_type")
	f(`[{"id":"c","function":[]}]`, "[0].function", "invalid_type")
}

func TestOldFunctionMessages(t *testing.T) {
	wantMessages(t, `{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"1"}`,
		`assistant()< f {}> tool(1)[f ]`)
	refuse(t, conversation(`{"role":"function","content":"1"}`), "messages[0].name", "missing_required_parameter")
}

func TestCheck27_PartsThatAreNoText(t *testing.T) {
	f := func(part, want string) {
		t.Helper()
		wantNeeds(t, conversation(`{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},`+part+`]}`), want)
	}
	f(`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}`, "image_url@messages[1].content[1].type")
	f(`{"type":"input_audio","input_audio":{}}`, "input_audio@messages[1].content[1].type")
	f(`{"type":"file","file":{"file_id":"x"}}`, "file@messages[1].content[1].type")
	f(`{"type":"image_url"},{"type":"image_url"}`, "image_url@messages[1].content[1].type")
	refuse(t, conversation(`{"role":"user","content":[{"type":"video_url"}]}`), "messages[0].content[0].type", "unsupported_value")
	refuse(t, conversation(`{"role":"user","content":[{"text":"x"}]}`), "messages[0].content[0].type", "missing_required_parameter")
	refuse(t, conversation(`{"role":"user","content":[{"type":1}]}`), "messages[0].content[0].type", "invalid_type")
	refuse(t, conversation(`{"role":"user","content":[{"type":"text"}]}`), "messages[0].content[0].text", "missing_required_parameter")
	refuse(t, conversation(`{"role":"user","content":[{"type":"text","text":["x"]}]}`), "messages[0].content[0].text", "invalid_type")
	refuse(t, conversation(`{"role":"user","content":["x"]}`), "messages[0].content[0]", "invalid_type")
}

func TestCheck28_Roles(t *testing.T) {
	wantMessages(t, `{"role":"developer","content":"d"},{"role":"system","content":"s"},{"role":"user","content":"u","name":"Ann"},{"role":"system","content":"late"}`,
		"system(d) system(s) user(u)[Ann ] system(late)")
	refuse(t, conversation(`{"role":"user","content":"x"},{"role":"foo","content":"x"}`), "messages[1].role", "invalid_value")
	refuse(t, conversation(`{"role":"","content":"x"}`), "messages[0].role", "invalid_value")
	refuse(t, conversation(`{"role":"User","content":"x"}`), "messages[0].role", "invalid_value")
	refuse(t, conversation(`{"role":1,"content":"x"}`), "messages[0].role", "invalid_type")
	refuse(t, conversation(`{"role":null,"content":"x"}`), "messages[0].role", "missing_required_parameter")
	refuse(t, conversation(`{"role":"user","content":"x","name":1}`), "messages[0].name", "invalid_type")
	_, err := ParseChat([]byte(conversation(`{"role":"foo","content":"x"}`)))
	if got, want := err.Error(), "Invalid value for 'messages[0].role': 'foo'. Supported values are: 'developer', 'system', 'user', 'assistant', 'tool', 'function'."; got != want {
		t.Errorf("got %s", got)
	}
}

func TestCheck29_ToolMessagesNeedAnID(t *testing.T) {
	wantMessages(t, `{"role":"tool","tool_call_id":"call_1","content":"42"}`, "tool(42)[ call_1]")
	refuse(t, conversation(`{"role":"tool","content":"42"}`), "messages[0].tool_call_id", "missing_required_parameter")
	refuse(t, conversation(`{"role":"tool","tool_call_id":7,"content":"42"}`), "messages[0].tool_call_id", "invalid_type")
}

func TestMessagesKeepTheirOwnJSON(t *testing.T) {
	ask := accept(t, conversation(` {"role":"user", "content":"x","odd":1e400} `))
	if got := string(ask.Request.Messages[0].Raw); got != `{"role":"user", "content":"x","odd":1e400}` {
		t.Errorf("got %s", got)
	}
}

const toolF = `"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]`

func TestCheck38_ToolsAndChoice(t *testing.T) {
	f := func(members, want string, offers bool) {
		t.Helper()
		wantNeeds(t, chat(members), want)
		if ask := accept(t, chat(members)); ask.OffersTools != offers {
			t.Errorf("%s: offers tools: %v", members, ask.OffersTools)
		}
	}
	f(toolF, "tools@tools", true)
	f(toolF+`,"tool_choice":"auto"`, "tools@tools", true)
	f(toolF+`,"tool_choice":"none"`, "", false)
	f(toolF+`,"tool_choice":"required"`, "tools@tools tool_choice@tool_choice", true)
	f(toolF+`,"tool_choice":{"type":"function","function":{"name":"f"}}`, "tools@tools tool_choice@tool_choice", true)
	f(toolF+`,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`, "tools@tools tool_choice@tool_choice", true)
	f(`"tools":[{"type":"custom","custom":{"name":"c"}}]`, "custom_tools@tools[0].type tools@tools", true)
	f(`"tools":[],"tool_choice":"auto"`, "", false)
	refuse(t, chat(toolF+`,"tool_choice":{"type":"function","function":{"name":"g"}}`), "tool_choice", "invalid_value")
	refuse(t, chat(toolF+`,"tool_choice":{"type":"function"}`), "tool_choice.function", "missing_required_parameter")
	refuse(t, chat(toolF+`,"tool_choice":{"type":"shell"}`), "tool_choice.type", "invalid_value")
	refuse(t, chat(toolF+`,"tool_choice":"any"`), "tool_choice", "invalid_value")
	refuse(t, chat(toolF+`,"tool_choice":1`), "tool_choice", "invalid_type")
	refuse(t, chat(`"tool_choice":"required"`), "tool_choice", "invalid_value")
	refuse(t, chat(`"tools":{}`), "tools", "invalid_type")
	refuse(t, chat(`"tools":[1]`), "tools[0]", "invalid_type")
	refuse(t, chat(`"tools":[{"function":{"name":"f"}}]`), "tools[0].type", "missing_required_parameter")
	refuse(t, chat(`"tools":[{"type":"web_search"}]`), "tools[0].type", "unsupported_value")
	refuse(t, chat(`"tools":[{"type":"function"}]`), "tools[0].function", "missing_required_parameter")
	refuse(t, chat(`"tools":[{"type":"function","function":{}}]`), "tools[0].function.name", "missing_required_parameter")
}

func TestCheck39_Functions(t *testing.T) {
	const functions = `"functions":[{"name":"f"}]`
	wantNeeds(t, chat(functions), "functions@functions")
	wantNeeds(t, chat(functions+`,"function_call":"auto"`), "functions@functions")
	wantNeeds(t, chat(functions+`,"function_call":"none"`), "")
	wantNeeds(t, chat(functions+`,"function_call":{"name":"f"}`), "functions@functions function_call@function_call")
	refuse(t, chat(functions+`,"function_call":{"name":"g"}`), "function_call", "invalid_value")
	refuse(t, chat(functions+`,"function_call":"required"`), "function_call", "invalid_value")
	refuse(t, chat(`"functions":[{}]`), "functions[0].name", "missing_required_parameter")
	if !accept(t, chat(functions)).OffersTools {
		t.Error("functions are not offered")
	}
}

// Clients of FastChat's API server may send a prompt of their own making where
// messages belong. It is a chat all the same.
func TestMessagesAsOneText(t *testing.T) {
	ask := accept(t, `{"model":"m","messages":"USER: Hi ASSISTANT:","stop":""}`)
	r := &ask.Request
	if ask.Kind != llm.Chat || r.Kind != llm.Completion || r.Prompt.Text() != "USER: Hi ASSISTANT:" || r.Messages != nil || r.MaxTokens != 0 {
		t.Errorf("got %+v", ask)
	}
	if ask := accept(t, completion("")); ask.Kind != llm.Completion {
		t.Errorf("a completion is %v", ask.Kind)
	}
}
