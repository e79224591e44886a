package field

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// qwen is a template as small as it can be that knows tools and thinking. tail
// is what the prompt ends with.
func qwen(t *testing.T, tail string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "qwen.jinja")
	source := `{%- if tools %}<|im_start|>system
Answer with <tool_call>{"name": ..., "arguments": ...}</tool_call> to call one of {{ tools | tojson }}<|im_end|>
{% endif %}{%- for m in messages %}<|im_start|>{{ m.role }}
{{ m.content.split('</think>')[-1] }}<|im_end|>
{% endfor %}<|im_start|>assistant
` + strings.ReplaceAll(tail, "\n", `{{ "\n" }}`)
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("template: %q", file)
}

const textTools = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},{"type":"function","function":{"name":"now"}},{"type":"function","function":{"name":"sh"}}]`

// BC-047: the template opened the reasoning, the model only closed it, and all of
// it was taken for the answer.
func TestBC047OpenedByTheTemplate(t *testing.T) {
	f := func(tail, script, shape, reasoning, text string) {
		t.Helper()
		harness.Play(t, harness.Case{
			Adapter: "native", Options: qwen(t, tail), Script: script, Shape: shape, Text: text,
			Check: func(t *testing.T, s *harness.Stream) {
				if s.Reasoning[0] != reasoning {
					t.Errorf("got reasoning %q, want %q", s.Reasoning[0], reasoning)
				}
			},
		})
	}
	f("<think>\n", native("weigh it</thi", "nk>\n\nBlue")+nativeEnd("stop"), "R G C F=stop D", "weigh it", "Blue")
	f("<think>\n\n</think>\n\n", native("Bl", "ue")+nativeEnd("stop"), "R C F=stop D", "", "Blue")
	f("<think>\n", native("weigh", " it")+nativeEnd("length"), "R G F=length D", "weigh it", "")
	f("", native("<thi", "nk>weigh it</think>", "\n\nBlue")+nativeEnd("stop"), "R G C F=stop D", "weigh it", "Blue")
}

// BC-048: a tag in prose was cut out as if it were reasoning.
func TestBC048TagsInProse(t *testing.T) {
	text := "Write `<think>x</think>` like this"
	harness.Play(t, harness.Case{Adapter: "raw", Options: qwen(t, ""), Script: "Write `<thi¦nk>x</th¦ink>` like this", Shape: "R C F=stop D", Text: text})
	harness.Play(t, harness.Case{Adapter: "openai", Options: "reasoning: tags", Script: openai("stop", "Write `<th", "ink>x</think>` like this"), Whole: whole(text, "stop"), Shape: "R C F=stop D", Text: text})
}

// textCalls plays text that calls tools, as a model with a tokenizer sends it and as
// one that leaves its text to an OpenAI-like server.
func textCalls(t *testing.T, script, text string, want ...harness.Tool) {
	t.Helper()
	shape := "R "
	if text != "" {
		shape += "C "
	}
	check := func(t *testing.T, s *harness.Stream) {
		ids := map[string]bool{}
		got := s.Tools[0]
		for i := range got {
			ids[got[i].ID] = true
			got[i].ID = ""
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || len(ids) != len(want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	shape += strings.Repeat("T ", len(want)) + "F=tool_calls D"
	harness.Play(t, harness.Case{Adapter: "raw", Options: qwen(t, ""), Ask: textTools, Script: strings.ReplaceAll(script, "\n", "⏎"), Shape: shape, Text: text, Check: check})
	harness.Play(t, harness.Case{
		Adapter: "openai", Options: "parse: hermes", Ask: textTools, Shape: shape, Text: text, Check: check,
		Script: openai("stop", strings.Split(script, "¦")...), Whole: whole(strings.ReplaceAll(script, "¦", ""), "stop"),
	})
}

// BC-050: the last brace was lost where several tokens came at once.
func TestBC050LastBrace(t *testing.T) {
	for _, value := range []string{"42", "true", "null", `"x"`, `{"k":[1]}`, "[]"} {
		textCalls(t, "<tool_call>\n{\"name\":\"f\",\"arguments\":{\"id\":¦"+value+"¦}\n}\n</tool_call>", "", harness.Tool{Name: "f", Arguments: `{"id":` + value + "}"})
	}
}

// BC-051: a tool without parameters was called without arguments, which clients
// cannot parse.
func TestBC051NoArguments(t *testing.T) {
	now := harness.Tool{Name: "now", Arguments: "{}"}
	textCalls(t, `<tool_call>{"name":"now","arguments":{}}</tool_call>`, "", now)
	textCalls(t, `<tool_call>{"name":"now"}</tool_call>`, "", now)
	textCalls(t, "I look.<tool_call>{\"name\":\"now\"}</tool_call>\n<tool_call>{\"name\":\"now\",\"arguments\":null}</tool_call>\n", "I look.", now, now)
}

// BC-055: braces within a string ended the arguments.
func TestBC055BracesInStrings(t *testing.T) {
	arguments := `{"cmd":"mkdir -p t/{a,b \" ] }}"}`
	textCalls(t, `<tool_call>{"name":"sh","arguments":`+arguments+`}</tool_call>`, "", harness.Tool{Name: "sh", Arguments: arguments})
}

// What is no call comes out as text, and a client that offers no tools gets text.
func TestCallsThatAreNone(t *testing.T) {
	f := func(ask, text string) {
		t.Helper()
		harness.Play(t, harness.Case{Adapter: "raw", Options: qwen(t, ""), Ask: ask, Script: text, Shape: "R C F=stop D", Text: text})
	}
	f(textTools, `<tool_call>{"name":f}</tool_call>`)
	f(textTools, `<tool_call>{"name":"f"`)
	f(textTools, `the tag <tool_call> begins a call`)
	f("", `<tool_call>{"name":"f"}</tool_call>`)
	f(textTools+`,"tool_choice":"none"`, `<tool_call>{"name":"f"}</tool_call>`)
}

// Tools are shown to a model that takes a prompt, unless its template has no
// place for them or it would have to be made to call one.
func TestToolsInPrompts(t *testing.T) {
	backend := harness.NewBackend(t, func(r harness.Received) harness.Reply {
		if !strings.Contains(r.Body, "to call one of") || !strings.Contains(r.Body, "now") {
			t.Errorf("the prompt shows no tools: %s", r.Body)
		}
		return harness.Reply{Body: "<think>Hm.</think>\n<tool_call>{\"name\":\"now\"}</tool_call>"}
	})
	base := harness.Gateway(t, harness.Case{Adapter: "raw", Options: qwen(t, "")}.Config(backend.URL))
	answer := harness.Chat(t, base, textTools)
	var body struct {
		Choices []struct {
			Message struct {
				Content   *string
				Reasoning string `json:"reasoning_content"`
				ToolCalls []struct {
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
			Finish string `json:"finish_reason"`
		}
	}
	if err := json.Unmarshal(answer.Body, &body); err != nil || len(body.Choices) != 1 {
		t.Fatalf("%v in %s", err, answer.Body)
	}
	c := body.Choices[0]
	if c.Message.Content != nil || c.Message.Reasoning != "Hm." || c.Finish != "tool_calls" || fmt.Sprint(c.Message.ToolCalls) != "[{{now {}}}]" {
		t.Errorf("got %s", answer.Body)
	}
	harness.Chat(t, base, textTools+`,"tool_choice":"required"`).Want(t, 400, "unsupported_parameter", "tool_choice")
	plain := harness.Gateway(t, harness.Case{Adapter: "raw"}.Config(backend.URL))
	harness.Chat(t, plain, textTools).Want(t, 400, "unsupported_parameter", "tools")
	left := harness.Gateway(t, harness.Case{Adapter: "raw", Options: qwen(t, "") + ", parse: none"}.Config(backend.URL))
	harness.Chat(t, left, textTools).Want(t, 400, "unsupported_parameter", "tools")
}
