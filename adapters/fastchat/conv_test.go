package fastchat

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// load makes a template of a worker's reply.
func load(t *testing.T, reply string) (adapters.Template, error) {
	t.Helper()
	return Adapter{}.Template(t.Context(), func(_ context.Context, call adapters.Call) ([]byte, error) {
		if call.Path != "/worker_get_conv_template" || string(call.Body) != `{"model":"m"}` {
			t.Errorf("asked %s %s", call.Path, call.Body)
		}
		return []byte(reply), nil
	}, "m")
}

// The prompts are what FastChat's own Conversation class makes of the same
// templates and messages: in testdata/conv that of commit 0e6d3e4b, in
// testdata/conv-0.2.36 that of the last release, whose numbers are others
// (testdata/conv.py).
func TestPromptsAreThoseOfFastChat(t *testing.T) {
	paths, _ := filepath.Glob("testdata/conv*/*.json")
	if len(paths) == 0 {
		t.Fatal("no cases")
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Reply json.RawMessage
			Cases []struct {
				Messages []llm.Message
				Prompt   string
			}
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		template, err := load(t, string(file.Reply))
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for i, c := range file.Cases {
			got, err := template.Render(&llm.Request{Messages: c.Messages})
			if err != nil {
				t.Errorf("%s: case %d: %v", path, i, err)
			} else if text := got.Prompt.Text(); text != c.Prompt {
				t.Errorf("%s: case %d:\ngot  %q\nwant %q", path, i, text, c.Prompt)
			}
		}
	}
}

func reply(name string, style string, rest string) string {
	return `{"conv":{"name":"` + name + `","system_template":"{system_message}","system_message":"","roles":["U","A"],` +
		`"messages":[],"sep_style":` + style + `,"sep":"<e>","sep2":null,"stop_str":null,"stop_token_ids":null` + rest + `}}`
}

func TestStylesByName(t *testing.T) {
	rest := ""
	f := func(name, style, want string) {
		t.Helper()
		template, err := load(t, reply(name, style, rest))
		if want == "" {
			if err == nil || !strings.Contains(err.Error(), "template:") || !strings.Contains(err.Error(), "sep_style "+style) {
				t.Errorf("%s, %s: %v", name, style, err)
			}
			return
		}
		if err != nil {
			t.Errorf("%s, %s: %v", name, style, err)
			return
		}
		got, err := template.Render(&llm.Request{Messages: []llm.Message{{Role: "user", Content: "x"}}})
		if err != nil || got.Prompt.Text() != want {
			t.Errorf("%s, %s: got %q, %v; want %q", name, style, got.Prompt.Text(), err, want)
		}
	}
	chatml, llama3 := "U\nx<e>\nA\n", "<|begin_of_text|><|start_header_id|>U<|end_header_id|>\n\nx<|eot_id|><|start_header_id|>A<|end_header_id|>\n\n"
	gemma := "<bos><start_of_turn>U\nx<e><start_of_turn>A\n"
	glm, intern := "[Round 1]<e>U：x<e>A：", "<s>U:x<e>\nA:"
	f("llama-3", "8", llama3)
	f("chatglm2", "8", glm)
	f("chatglm2", "9", glm)
	f("qwen-7b-chat", "9", chatml)
	f("qwen-7b-chat", "10", chatml)
	f("internlm-chat", "10", intern)
	f("internlm-chat", "11", intern)
	f("metamath", "18", "U:\nx<e>A: ")
	f("yuan2", "19", "x<e>")
	f("yuan2", "20", "x<e>")
	f("gemma", "20", gemma)
	f("gemma", "21", gemma)
	f("cllm", "20", "<e>U: x<e>A:")
	f("cllm", "21", "<e>U: x<e>A:")
	f("cllm", "22", "<e>U: x<e>A:")
	f("gemini", "22", "\nU: x\nA:")
	// A name of FastChat's with a number that it never had.
	for name, style := range map[string]string{"llama-3": "10", "yuan2": "18", "phoenix": "12", "gemma": "22", "cllm": "23"} {
		f(name, style, "")
	}
	// A template of somebody's own: by number alone.
	f("mine", "8", llama3)
	f("mine", "10", chatml)
	f("mine", "21", gemma)
	f("mine", "23", "\nU: x\nA:")
	for _, style := range []string{"-1", "0", "9", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "22", "24", "1000"} {
		f("mine", style, "")
	}
	// A worker of a version that says so.
	rest = `,"system_message_vision":""`
	f("mine", "9", "[Round 0]<e>U：x<e>A：")
	f("mine", "11", intern)
	f("mine", "13", "U: x\n\nA:")
	f("mine", "24", "")
}

func TestRenderForgetsNothing(t *testing.T) {
	messages := func(list ...string) (all []llm.Message) {
		for i := 0; i < len(list); i += 2 {
			all = append(all, llm.Message{Role: list[i], Content: list[i+1]})
		}
		return all
	}
	f := func(reply string, in []llm.Message, want string) {
		t.Helper()
		template, err := load(t, reply)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a template keeps nothing of a request
			got, err := template.Render(&llm.Request{Messages: in})
			if err != nil || got.Prompt.Text() != want {
				t.Errorf("got %q, %v; want %q", got.Prompt.Text(), err, want)
			}
		}
	}
	f(reply("t", "4", ""), messages("system", "a", "system", "b", "user", "x"), "a\n\nbUx<e>A")
	// A model without a place for a system text.
	f(reply("gemma", "21", ""), messages("system", "s", "user", "x"), "<bos><start_of_turn>U\ns\n\nx<e><start_of_turn>A\n")
	f(reply("gemma", "21", ""), messages("system", "s"), "<bos><start_of_turn>U\ns<e><start_of_turn>A\n")
	fixed := strings.Replace(reply("t", "4", ""), "{system_message}", "Fixed. ", 1)
	f(fixed, messages("user", "x"), "Fixed. Ux<e>A")
	f(fixed, messages("system", "s", "assistant", "y"), "Fixed. Us<e>Ay<e>A")
	f(reply("gemma", "21", ""), messages("system", "", "user", "x"), "<bos><start_of_turn>U\nx<e><start_of_turn>A\n")
}

func TestRenderGivesStops(t *testing.T) {
	f := func(rest string, stop []string, ids []int) {
		t.Helper()
		template, err := load(t, reply("t", "2", rest))
		if err != nil {
			t.Fatal(err)
		}
		got, err := template.Render(&llm.Request{})
		if err != nil || !reflect.DeepEqual(got.Stop, stop) || !reflect.DeepEqual(got.StopTokenIDs, ids) {
			t.Errorf("%s: got %q, %v, %v", rest, got.Stop, got.StopTokenIDs, err)
		}
	}
	f(``, nil, nil)
	f(`,"stop_str":"###","stop_token_ids":[1,2]`, []string{"###"}, []int{1, 2})
	f(`,"stop_str":["a","b"]`, []string{"a", "b"}, nil)
}

func TestRenderRefusesTools(t *testing.T) {
	template, err := load(t, reply("t", "2", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []llm.Message{{Role: "tool", Content: "x"}, {Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "c"}}}} {
		_, err := template.Render(&llm.Request{Messages: []llm.Message{{Role: "user", Content: "x"}, m}})
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != 400 || e.Param != "messages[1].role" {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

func TestTemplateErrors(t *testing.T) {
	for _, answer := range []string{
		`{}`, `null`, `{"conv":null}`, `<html>`, `{"conv":{"roles":[]}}`, `{"conv":[]}`,
		`{"conv":{"roles":["U","A"],"messages":[5]}}`, `{"conv":{"roles":["U","A"],"stop_str":5}}`,
	} {
		if _, err := load(t, answer); err == nil {
			t.Errorf("%s was taken for a template", answer)
		}
	}
	// Few-shot messages with images keep their text.
	template, err := load(t, reply("t", "1", `,"messages":[["U",["look",["data:x"]]],["A",null]]`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := template.Render(&llm.Request{})
	if want := "<e>U: look<e>A:A:"; err != nil || got.Prompt.Text() != want {
		t.Errorf("got %q, %v; want %q", got.Prompt.Text(), err, want)
	}
}

func FuzzTemplate(f *testing.F) {
	f.Add(reply("t", "2", ""))
	f.Add(reply("gemma", "21", `,"messages":[["U","x"]]`))
	for n := range 25 {
		f.Add(reply("t", strconv.Itoa(n), `,"system_message_vision":null,"messages":[["U","x\r\n\n"],["A",null]]`))
		f.Add(reply("t", strconv.Itoa(n), `,"system_message_vision":""`))
	}
	f.Fuzz(func(t *testing.T, answer string) {
		ask := func(context.Context, adapters.Call) ([]byte, error) { return []byte(answer), nil }
		template, err := Adapter{}.Template(t.Context(), ask, "m")
		if err != nil {
			return
		}
		if _, err := template.Render(&llm.Request{Messages: []llm.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "x"}}}); err != nil {
			t.Error(err)
		}
	})
}
