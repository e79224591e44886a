package parse

import (
	"encoding/json"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

func family1(t *testing.T, name string) func(text, want string) {
	plan := New("", name, Auto).Plan(offering(t), false)
	return func(text, want string) {
		t.Helper()
		reads(t, plan, text, want)
	}
}

func TestHermes(t *testing.T) {
	f := family1(t, "hermes")
	f(`<tool_call>
{"name": "f", "arguments": {"s": "a}b\"]", "n": 42}}
</tool_call>`, `{f {"s": "a}b\"]", "n": 42}}`)
	f("I look.\n<tool_call>\n{\"name\":\"f\",\"arguments\":{}}\n</tool_call>\n<tool_call>{\"name\":\"now\"}</tool_call>\n",
		"I look.\n{f {}}{now {}}")
	f(`<tool_call>{"arguments":{"n":1},"name":"f"}</tool_call> and more`, `{f {"n":1}} and more`)
	f(`<tool_call>{"name":"f","arguments":"{\"n\": 1}"}</tool_call>`, `{f {"n": 1}}`)
	f(`<tool_call>{"name":"f","arguments":null,"id":"x"}</tool_call>`, `{f {}}`)
	f(`<tool_call>{"id":[1,"]"],"name":"f","arguments":{"o":{"k":[1]}},"x":1}</tool_call>`, `{f {"o":{"k":[1]}}}`)
	f(`<tool_call>{"name":"f","arguments":{"n":1}}{"name":"now","arguments":{}}</tool_call>`, `{f {"n":1}}{now {}}`)
	// What is missing at the end.
	f(`<tool_call>{"name":"f","arguments":{"n":1}}`, `{f {"n":1}}`)
	f(`<tool_call>{"name":"f","arguments":{"n":1}`, `{f {"n":1}}`)
	f(`<tool_call>{"name":"f","arguments":{"n":1}}</tool_`, `{f {"n":1}}</tool_`)
	f(`<tool_call>{"name":"f","arguments":{"n":1`, `{f {"n":1}!`)
	// What is none.
	for _, text := range []string{
		"<tool_call>", "<tool_ca", "a <tool_call> b", "<tool_call>{}</tool_call>", "<tool_call>{name: f}</tool_call>",
		`<tool_call>{"name":"f"`, `<tool_call>{"name":"f","arguments":[1]}</tool_call>`, `<tool_call>{"name":"","arguments":{}}`,
		`<tool_call>f(1)</tool_call>`, `{"name":"f","arguments":{}}`, `<tool_call>{"name":1,"arguments":{}}`,
		`<tool_call>{"name":"f",}</tool_call>`, `<tool_call>{"name":"f" "arguments":{}}</tool_call>`,
		"<tool_call>" + strings.Repeat(" ", maxSpace) + `{"name":"f"}`,
	} {
		f(text, text)
	}
	f(`<tool_call>\n<tool_call>{"name":"f"}</tool_call>`, `<tool_call>\n{f {}}`)
	f(`<tool_call>{"x":"`+strings.Repeat("y", maxHead)+`","name":"f"}`, `<tool_call>{"x":"`+strings.Repeat("y", maxHead)+`","name":"f"}`)
}

func TestHermesAfterReasoning(t *testing.T) {
	plan := New("<tool_call> <think>", "", "").Plan(offering(t), true)
	reads(t, plan, "I need <tool_call>.</think>\n\n<tool_call>\n{\"name\":\"now\",\"arguments\":{}}\n</tool_call>", "(I need <tool_call>.){now {}}")
}

func TestLlama3(t *testing.T) {
	f := family1(t, "llama3")
	f(`{"name": "f", "parameters": {"s": "x"}}`, `{f {"s": "x"}}`)
	f(`<|python_tag|>{"type": "function", "name": "f", "parameters": {"s": "x"}}`, `{f {"s": "x"}}`)
	f(`{"name": "f", "parameters": {"n": 1}}; {"name": "now", "parameters": {}}`, `{f {"n": 1}}{now {}}`)
	f("{\"name\": \"f\", \"parameters\": {\"n\": 1}}\n\n{\"name\": \"now\"}\n", `{f {"n": 1}}{now {}}`)
	f("\n\n{\"name\": \"now\"}", `{now {}}`)
	for _, text := range []string{
		`{"name": "Ann", "parameters": {}}`, `{"title": "x"}`, `{`, `[1, 2]`, `Use {"name": "f", "parameters": {}}`,
		`<|python_tag|>brave_search.call(query="x")`, `{"name": "f", "age": 3}`, `[{"name": "Ann"}]`,
	} {
		f(text, text)
	}
}

func TestMistral(t *testing.T) {
	f := family1(t, "mistral")
	f(`[TOOL_CALLS][{"name": "f", "arguments": {"n": 1}}, {"name": "now", "arguments": {}}]`, `{f {"n": 1}}{now {}}`)
	f(`[TOOL_CALLS] [{"name": "f", "arguments": {"s": "]"}, "id": "abc123def"}]`, `{f {"s": "]"}}`)
	f(`[TOOL_CALLS]f[ARGS]{"n": 1}[TOOL_CALLS]now[ARGS]{}`, `{f {"n": 1}}{now {}}`)
	f(`Well.[TOOL_CALLS]f[CALL_ID]abc123def[ARGS]{"n": 1}`, `Well.{f {"n": 1}}`)
	f(`[TOOL_CALLS]f{"s": "[ARGS]{"}`, `{f {"s": "[ARGS]{"}}`)
	f(`[{"name": "f", "arguments": {"n": 1}}]`, `{f {"n": 1}}`)
	for _, text := range []string{"[TOOL_CALLS]", "[TOOL_CALLS]f", "[TOOL_CALLS]f[ARGS]", "[TOOL_CALLS]f and g", "[1]", "see [TOOL"} {
		f(text, text)
	}
}

func TestDeepSeek(t *testing.T) {
	f := family1(t, "deepseek")
	f("Let me.\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"n\": 1}\n```<｜tool▁call▁end｜>\n"+
		"<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "Let me.\n{f {\"n\": 1}}{now {}}")
	f("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"n\": 1}<｜tool▁call▁end｜>"+
		"<｜tool▁call▁begin｜>now<｜tool▁sep｜><｜tool▁call▁end｜><｜tool▁calls▁end｜>", "{f {\"n\": 1}}{now {}}")
	f("<｜tool▁calls▁begin｜>f(1)<｜tool▁calls▁end｜>", "<｜tool▁calls▁begin｜>f(1)<｜tool▁calls▁end｜>")
	f("<｜tool▁call", "<｜tool▁call")
}

func TestGranite(t *testing.T) {
	f := family1(t, "granite")
	f(`<|tool_call|>[{"name": "f", "arguments": {"n": 1}}, {"name": "now", "arguments": {}}]`, `{f {"n": 1}}{now {}}`)
	f(`<tool_call>[{"arguments": {"n": 1}, "name": "f"}]`, `{f {"n": 1}}`)
	f(`<|tool_call|> none`, `<|tool_call|> none`)
}

func TestPhi(t *testing.T) {
	f := family1(t, "phi")
	f(`<|tool_call|>[{"type":"function","name":"f","parameters":{"n":1}}]<|/tool_call|>`, `{f {"n":1}}`)
	f(`functools[{"name": "f", "arguments": {"n": 1}}]`, `{f {"n": 1}}`)
	f(`import functools[x]`, `import functools[x]`)
}

func TestHarmony(t *testing.T) {
	f := family1(t, "harmony")
	f("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Blue<|return|>", "(Hm.)Blue")
	f("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{\"n\":1}<|call|>", `(Hm.){f {"n":1}}`)
	f("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.now<|channel|>commentary json<|message|>{}", `(Hm.){now {}}`)
	f("<|channel|>commentary<|message|>First, I look.<|end|><|start|>assistant<|channel|>commentary to=functions.now<|message|><|call|>", `First, I look.{now {}}`)
	f("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|><|channel|>final<|message|>c", "(ab)c")
	for _, text := range []string{"plain <|end|>", "say <|channel|>final<|message|>x", "<|channel|>other<|message|>x", "<|channel|>commentary to=python code<|message|>print()<|call|>"} {
		f(text, text)
	}
}

func TestGLM(t *testing.T) {
	f := family1(t, "glm")
	f("\n<tool_call>f\n<arg_key>s</arg_key>\n<arg_value>a \"b\"\n</arg_value>\n<arg_key>n</arg_key>\n<arg_value>7</arg_value>\n</tool_call>\n<tool_call>now</tool_call>",
		`{f {"s": "a \"b\"\n", "n": 7}}{now {}}`)
	f("<tool_call>f<arg_key>o</arg_key><arg_value>{\"k\": [1]}</arg_value><arg_key>x</arg_key><arg_value>y z</arg_value></tool_call>.", `{f {"o": {"k": [1]}, "x": "y z"}}.`)
	f("<tool_call>f <arg_key>s</arg_key> <arg_value>12</arg_value> odd", `{f {"s": "12"}} odd`)
	f("<tool_call>f <arg_key>s</arg_key> <arg_value>12", `{f {"s": "12}!`)
	f("<tool_call>f <arg_key>n</arg_key> <arg_value>12", `{f {"n": "12}!`)
	f("<tool_call>f or g</tool_call>", "<tool_call>f or g</tool_call>")
}

func TestQwen3Coder(t *testing.T) {
	f := family1(t, "qwen3-coder")
	f("Look:\n<tool_call>\n<function=f>\n<parameter=s>\nif a < b:\n  \"x\"\n\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>",
		"Look:\n{f {\"s\": \"if a < b:\\n  \\\"x\\\"\\n\", \"n\": 3}}")
	f("<function=now>\n</function>\n</tool_call>", "{now {}}")
	f("<tool_call>\n<function=f>\n<parameter=s>\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=now></function>\n</tool_call>", `{f {"s": ""}}{now {}}`)
	f("<function=f>\n<parameter=n>1</parameter>\n", "{f {\"n\": 1}\n!")
	f("a <function=f and", "a <function=f and")
}

// An argument that is too long to be kept back for what it may be is a string.
func TestLongArgument(t *testing.T) {
	long := strings.Repeat("[1,\n\"", maxValue)
	text := "<function=f>\n<parameter=o>\n" + long + "\n</parameter>\n</function>"
	plan := New("", "qwen3-coder", None).Plan(offering(t), false)
	for i, size := range []int{len(text), 1000} {
		p := plan.NewParser()
		var args []byte
		tell := func(events []llm.Event) {
			for _, ev := range events {
				args = append(args, ev.Tool.Arguments...)
			}
			if len(p.open.value) > maxValue+size {
				t.Errorf("%d bytes are kept back", len(p.open.value))
			}
		}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			var arena []byte
			tell(p.Push(nil, &arena, []byte(rest[:n])))
			rest = rest[n:]
		}
		var arena []byte
		tell(p.Flush(nil, &arena))
		var got struct{ O string }
		if err := json.Unmarshal(args, &got); err != nil || got.O != long || !p.Called() {
			t.Errorf("%d: %v, %d bytes of %d", i, err, len(got.O), len(long))
		}
	}
}

func TestKimi(t *testing.T) {
	f := family1(t, "kimi")
	f(`<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"n": 1}<|tool_call_end|>`+
		`<|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>`, `{f {"n": 1}}{now {}}`)
	f(`<|tool_calls_section_begin|> <|tool_call_begin|>f:0<|tool_call_argument_begin|><|tool_call_end|>`, `{f {}}`)
	f(`<|tool_calls_section_begin|>x`, `<|tool_calls_section_begin|>x`)
}

// A template tells which family it is for.
func TestSigns(t *testing.T) {
	f := func(source, want string) {
		t.Helper()
		got := ""
		if fam := New(source, "", "").family; fam != nil {
			got = fam.name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", source, got, want)
		}
	}
	f("{{ '<tool_call>' }}", "hermes")
	f("<tool_call>\n<function=example>", "qwen3-coder")
	f("<tool_call>{function-name}\n<arg_key>", "glm")
	f("{{- '<|python_tag|>' }}", "llama3")
	f(`'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.'`, "llama3")
	f("[TOOL_CALLS]", "mistral")
	f("<|start|>assistant to=functions.probeFunction<|channel|>", "harmony")
	f("<|tool|>..<|/tool|>", "phi")
	f("<|tool_call|>", "granite")
	f("<｜tool▁calls▁begin｜>", "deepseek")
	f("{{ bos_token }}", "")
}

func TestDeepSeekV32(t *testing.T) {
	f := family1(t, "deepseek-v3.2")
	f("Well.\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name=\"f\">\n<｜DSML｜parameter name=\"s\" string=\"true\">1 < 2</｜DSML｜parameter>\n"+
		"<｜DSML｜parameter name=\"x\" string=\"false\">[1]</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
		"Well.\n\n{f {\"s\": \"1 < 2\", \"x\": [1]}}{now {}}")
	f("<｜DSML｜invoke name=f>", "<｜DSML｜invoke name=f>")
}

func TestKimiK3(t *testing.T) {
	f := family1(t, "kimi-k3")
	f("<|open|>response<|sep|>Hello<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool=\"f\" index=\"1\"<|sep|>"+
		"<|open|>argument key=\"n\" type=\"number\"<|sep|>7<|close|>argument<|sep|><|close|>call<|sep|>"+
		"<|open|>call tool=\"now\" index=\"2\"<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>", `Hello{f {"n": 7}}{now {}}`)
}

func TestLlama4(t *testing.T) {
	f := family1(t, "llama3")
	f(`<|python_start|>{"name": "f", "parameters": {"n": 1}}<|python_end|>`, `{f {"n": 1}}`)
	f(`<|python_start|>[f(n=1)]<|python_end|>`, `<|python_start|>[f(n=1)]<|python_end|>`)
}
