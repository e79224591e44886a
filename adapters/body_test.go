package adapters

import (
	"errors"
	"strings"
	"testing"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

func TestAppendMessages(t *testing.T) {
	got := AppendMessages(nil, []llm.Message{
		{Role: "user", Content: "<b> \"é\"\x00\n", Name: "Ann"},
		{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "c1", Name: "f", Arguments: `{"a":1}`}, {ID: "c2", Name: "g", Arguments: "{}"}}},
		{Role: "tool", Content: "ok", ToolCallID: "c1"},
	})
	want := `[{"role":"user","content":"<b> \"é\"\u0000\n","name":"Ann"},` +
		`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},` +
		`{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}]},` +
		`{"role":"tool","content":"ok","tool_call_id":"c1"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if err := jsonscan.Valid(got, 8); err != nil {
		t.Error(err)
	}
	if got := string(AppendMessages(nil, nil)); got != "[]" {
		t.Errorf("no messages: %s", got)
	}
}

func TestAppendParam(t *testing.T) {
	req := &llm.Request{}
	req.Params[llm.Temperature] = "0"
	got := AppendParam(nil, req, llm.Temperature, "temp")
	if got = AppendParam(got, req, llm.TopP, "top_p"); string(got) != `,"temp":0` {
		t.Errorf("got %s", got)
	}
}

func TestCapped(t *testing.T) {
	for value, want := range map[string]string{"": "", "0": "0", "0.70": "0.70", "1.0": "1.0", "1.5": "1", "2": "1"} {
		if got := string(Capped(value, 1)); got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

func TestInt(t *testing.T) {
	f := func(value string, want int) {
		t.Helper()
		if got := Int([]byte(value)); got != want {
			t.Errorf("%s: got %d, want %d", value, got, want)
		}
	}
	f("12", 12)
	f("12.0", 12)
	f("-1", -1)
	f("1e3", 1000)
	f("1e300", 0)
	f("99999999999999999999", 0)
	f("null", 0)
	f(`"12"`, 0)
	f("", 0)
}

func TestCheckJSON(t *testing.T) {
	if err := CheckJSON([]byte(`{"a":[1]}`)); err != nil {
		t.Error(err)
	}
	f := func(data, says string) {
		t.Helper()
		err := CheckJSON([]byte(data))
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != 502 || !strings.Contains(e.Message, says) || len(e.Message) > 300 {
			t.Errorf("%.20s: %v", data, err)
		}
	}
	f("internal failure, try later", "internal failure, try later")
	f(strings.Repeat("[", 1_000_000), "[[[")
	f("", "")
}
