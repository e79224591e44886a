package adapters

import (
	"errors"
	"strings"
	"testing"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

func requestOf(t *testing.T, body string) *llm.Request {
	t.Helper()
	members, err := jsonscan.Members([]byte(body), 128)
	if err != nil {
		t.Fatal(err)
	}
	return &llm.Request{Raw: []byte(body), Members: members}
}

func TestFunctions(t *testing.T) {
	f := func(body, want, mode, chosen string) {
		t.Helper()
		req := requestOf(t, body)
		var got strings.Builder
		for _, fn := range Functions(req) {
			got.WriteString(fn.Name + "|" + fn.Description + "|" + string(fn.Parameters) + " ")
		}
		if got.String() != want {
			t.Errorf("%s: got %q, want %q", body, got.String(), want)
		}
		if m, name := FunctionChoice(req); m != mode || name != chosen {
			t.Errorf("%s: got choice %q %q", body, m, name)
		}
	}
	f(`{}`, "", "", "")
	f(`{"tools":null,"tool_choice":null}`, "", "", "")
	f(`{"tools":[{"type":"function","function":{"name":"a","description":"d","parameters":{"n":9007199254740993}}},{"type":"custom","custom":{"name":"x"}}],"tool_choice":"required"}`,
		`a|d|{"n":9007199254740993} `, "required", "")
	f(`{"functions":[{"name":"a"}],"function_call":{"name":"a"}}`, "a|| ", "function", "a")
	f(`{"tools":[],"tool_choice":{"type":"function","function":{"name":"a.b*"}}}`, "", "function", "a.b*")
	f(`{"tool_choice":{"type":"allowed_tools","allowed_tools":{}}}`, "", "allowed_tools", "")
}

func TestAnswerForm(t *testing.T) {
	f := func(body, form, schema string) {
		t.Helper()
		if got, s := AnswerForm(requestOf(t, body)); got != form || string(s) != schema {
			t.Errorf("%s: got %s %s", body, got, s)
		}
	}
	f(`{}`, "text", "")
	f(`{"response_format":{"type":"text"}}`, "text", "")
	f(`{"response_format":{"type":"json_object"}}`, "json_object", "")
	f(`{"response_format":{"type":"json_schema","json_schema":{"name":"s"}}}`, "json_schema", "{}")
	f(`{"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"a":1.0}}}}`, "json_schema", `{"a":1.0}`)
}

func TestParts(t *testing.T) {
	parts := func(content string) ([]Part, error) {
		m := llm.Message{Content: "joined", Raw: []byte(`{"content":` + content + `}`)}
		return Parts(&llm.Request{Messages: []llm.Message{m}}, 0)
	}
	f := func(content, want string) {
		t.Helper()
		list, err := parts(content)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, p := range list {
			if got += p.Text; p.Image != nil {
				got += "[" + p.Image.URL + p.Image.Type + "," + p.Image.Data + "]"
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", content, got, want)
		}
	}
	f(`"x"`, "joined")
	f(`null`, "joined")
	f(`[]`, "")
	f(`[{"type":"text","text":"a"},{"type":"text","text":""},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}]`, "a[image/png,iVBO]")
	f(`[{"type":"refusal","refusal":"no"},{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]`, "no[https://x.test/a.png,]")
	for _, address := range []string{"", "nowhere", "data:image/png,x", "data:image/png;base64,"} {
		_, err := parts(`[{"type":"image_url","image_url":{"url":"` + address + `"}}]`)
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != 400 || e.Param != "messages[0].content[0].image_url.url" {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestArguments(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{
		{ToolCalls: []llm.ToolCall{{ID: "a", Name: "f", Arguments: ` {"n":9007199254740993} `}, {ID: "b", Name: "g"}, {ID: "c", Name: "h", Arguments: `{"n":`}}},
		{ToolCallID: "b"},
		{ToolCallID: "none"},
		{Name: "said", ToolCallID: "a"},
	}}
	for j, want := range []string{`{"n":9007199254740993}`, "{}"} {
		if got, err := Arguments(req, 0, j); err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	var e *llm.Error
	if _, err := Arguments(req, 0, 2); !errors.As(err, &e) || e.Param != "messages[0].tool_calls[2].function.arguments" {
		t.Errorf("got %v", err)
	}
	for i, want := range map[int]string{1: "g", 2: "", 3: "said"} {
		if got := CalledName(req, i); got != want {
			t.Errorf("message %d: got %q, want %q", i, got, want)
		}
	}
}

func TestIDsOfFunctionCalls(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{
		{ToolCalls: []llm.ToolCall{{Name: "f"}}}, {Name: "f"}, {ToolCalls: []llm.ToolCall{{ID: "a"}, {ID: "b"}}}, {ToolCallID: "b"},
	}}
	if use, result := UseID(req, 0, 0), ResultID(req, 1); use != result || use == "" {
		t.Errorf("call %q, result %q", use, result)
	}
	if use, result := UseID(req, 2, 1), ResultID(req, 3); use != "b" || result != "b" {
		t.Errorf("call %q, result %q", use, result)
	}
}

func TestTurns(t *testing.T) {
	req := &llm.Request{}
	for _, m := range []string{"system s", "user a", "tool b", "assistant ", "user c", "assistant d", "assistant e", "system u"} {
		role, text, _ := strings.Cut(m, " ")
		req.Messages = append(req.Messages, llm.Message{Role: role, Content: text})
	}
	got, err := Turns(req, "model", "parts", func(i int) ([][]byte, error) {
		if text := req.Messages[i].Content; text != "" {
			return [][]byte{AppendString(nil, text)}, nil
		}
		return nil, nil
	})
	if want := `[{"role":"user","parts":["a","b","c"]},{"role":"model","parts":["d","e"]}]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	if system := SystemTexts(req); strings.Join(system, "|") != "s|u" {
		t.Errorf("system %q", system)
	}
}

func TestObject(t *testing.T) {
	var o, inner, none Object
	var list, empty List
	inner.SetInt("n", -1)
	list.Add([]byte("1"))
	list.Add([]byte(`"x"`))
	o.SetText("a.\"b", "")
	o.Set("none", nil)
	o.SetObject("none", &none)
	o.SetObject("o", &inner)
	o.Set("l", list.JSON())
	if got := string(o.JSON()); got != `{"a.\"b":"","o":{"n":-1},"l":[1,"x"]}` {
		t.Errorf("got %s", got)
	}
	if got := string(none.JSON()) + string(empty.JSON()); got != "{}[]" {
		t.Errorf("got %s", got)
	}
}
