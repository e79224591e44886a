package prompt

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// asked returns a request with the messages and the members of body.
func asked(t *testing.T, body string, messages ...llm.Message) *llm.Request {
	t.Helper()
	members, err := jsonscan.Members([]byte(body), 100)
	if err != nil {
		t.Fatal(err)
	}
	return &llm.Request{Messages: messages, Raw: []byte(body), Members: members}
}

func thought(content, reasoning string) llm.Message {
	return llm.Message{Role: "assistant", Content: content, Raw: []byte(`{"reasoning_content":"` + reasoning + `"}`)}
}

// turned ends every message and begins the answer, as chat models want it.
const turned = `{% if tools %}{{ tools | tojson }}
{% endif %}{% for m in messages %}[{{ m.role }}]{{ m.content }}[/]{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}`

func TestToolsReachTheTemplate(t *testing.T) {
	tm := mustJinja(t, turned, Options{Special: []string{"[/]"}})
	f := func(body, want string) {
		t.Helper()
		got, err := tm.Render(asked(t, body, user("q")))
		if err != nil || got.Prompt.Text() != want+"[user]q[/][assistant]" || !got.Tools {
			t.Errorf("%s:\n got %q, %v\nwant %q", body, got.Prompt.Text(), err, want)
		}
		for _, piece := range got.Prompt {
			if n := strings.Count(piece.Text, "[/]"); n > 1 {
				t.Errorf("%s: a control token of the client's: %q", body, piece.Text)
			}
		}
	}
	const tool = `{"type":"function","function":{"name":"z","strict":true,"parameters":{"b":1.0,"a":[9007199254740993,"[/]"]}}}`
	const shown = `{"type": "function", "function": {"name": "z", "strict": true, "parameters": {"b": 1.0, "a": [9007199254740993, "[/]"]}}}`
	f(`{"tools":[`+tool+`]}`, "["+shown+"]\n")
	f(`{"tools":[`+tool+`],"tool_choice":"auto"}`, "["+shown+"]\n")
	f(`{"tools":[`+tool+`],"tool_choice":"none"}`, "")
	f(`{"functions":[{"name":"old"}]}`, `[{"type": "function", "function": {"name": "old"}}]`+"\n")
	f(`{"tools":[]}`, "")
	f(`{"tools":null}`, "")
	f(`{}`, "")
}

func TestTemplateWithoutToolsSaysSo(t *testing.T) {
	for _, src := range []string{
		"{% for m in messages %}{{ m.content }}{% endfor %}",
		"{% if tools %}{{ raise_exception('no tools here') }}{% endif %}{% for m in messages %}{{ m.content }}{% endfor %}",
	} {
		got, err := mustJinja(t, src, Options{}).Render(chat(user("q")))
		if err != nil || got.Tools {
			t.Errorf("%s: %v %v", src, got.Tools, err)
		}
	}
}

func TestVariablesReachTheTemplate(t *testing.T) {
	const src = "{{ messages[0].content }}{{ enable_thinking }}{{ reasoning_effort }}{{ o | tojson }}"
	tm := mustJinja(t, src, Options{Special: []string{"<s>"}})
	f := func(body, want string) {
		t.Helper()
		got, err := tm.Render(asked(t, body, user("q ")))
		if err != nil || drawn(got.Prompt) != want {
			t.Errorf("%s:\n got %q, %v\nwant %q", body, drawn(got.Prompt), err, want)
		}
	}
	f(`{"chat_template_kwargs":{"enable_thinking":false,"o":{"b":2.0,"a":"<s>"}}}`, `[q False{"b": 2.0, "a": "<][s>"}]`)
	f(`{"reasoning_effort":"low","chat_template_kwargs":{"o":1}}`, "[q low1]")
	f(`{"reasoning_effort":"low","chat_template_kwargs":{"reasoning_effort":"max","o":1}}`, "[q max1]")
	f(`{"chat_template_kwargs":null,"reasoning_effort":null}`, "[q null]")
}

func TestMisusedExtensionsAreBadRequests(t *testing.T) {
	tm := mustJinja(t, turned, Options{})
	f := func(body, param string, messages ...llm.Message) {
		t.Helper()
		_, err := tm.Render(asked(t, body, messages...))
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != 400 || e.Param != param {
			t.Errorf("%s: %v", body, err)
		}
	}
	f(`{"chat_template_kwargs":[]}`, "chat_template_kwargs", user("q"))
	f(`{"chat_template_kwargs":{"messages":[]}}`, "chat_template_kwargs.messages", user("q"))
	f(`{"chat_template_kwargs":{"a":1,"a":2}}`, "chat_template_kwargs", user("q"))
	f(`{"add_generation_prompt":"yes"}`, "add_generation_prompt", user("q"))
	f(`{"continue_final_message":1}`, "continue_final_message", user("q"), assistant("a"))
	f(`{"continue_final_message":true}`, "continue_final_message", user("q"))
	f(`{"continue_final_message":true}`, "continue_final_message")
	f(`{"continue_final_message":true,"add_generation_prompt":true}`, "continue_final_message", user("q"), assistant("a"))
	f(`{"continue_final_message":true}`, "continue_final_message", user("q"),
		llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "1", Name: "f", Arguments: "{}"}}})
}

func TestPromptEndsAsAsked(t *testing.T) {
	f := func(src, body, want string, messages ...llm.Message) {
		t.Helper()
		tm := mustJinja(t, src, Options{Special: []string{"[/]"}, Fold: true})
		got, err := tm.Render(asked(t, body, messages...))
		if err != nil || got.Prompt.Text() != want {
			t.Errorf("%s:\n got %q, %v\nwant %q", body, got.Prompt.Text(), err, want)
		}
	}
	const resume = `{"continue_final_message":true,"add_generation_prompt":false}`
	const trimming = "{% for m in messages %}[{{ m.role }}]{{ m.content | trim }}[/]{% endfor %}"
	const wantsParts = "{% for m in messages %}{% for p in m.content %}{% if p.type == 'text' %}[{{ p.text }}]{% endif %}{% endfor %}{% endfor %}"

	f(turned, `{}`, "[user]q[/][assistant]a[/][assistant]", user("q"), assistant("a"))
	f(turned, `{"add_generation_prompt":false}`, "[user]q[/][assistant]a[/]", user("q"), assistant("a"))
	f(turned, `{"continue_final_message":true}`, "[user]q[/][assistant]a", user("q"), assistant("a"))
	f(turned, resume, "[user]q[/][assistant]a", user("q"), assistant("a"))
	f(turned, resume, "[user]q[/][assistant]a \n", user("q"), assistant("a \n"))
	f(turned, resume, "[user]a[/][assistant]a [/] \ufdd0 <", user("a"), assistant("a [/] \ufdd0 <"))
	f(turned, resume, "[user]q[/][assistant]", user("q"), assistant(""))
	f(trimming, resume, "[user]q[/][assistant]a", user("q"), assistant(" a \n"))
	f(wantsParts, resume, "[q][a ", user("q"), assistant("a "))
	f(strict, resume, "<user>s\n\nq<assistant>a\n\nb", system("s"), user("q"), assistant("a"), assistant("b"))
}

func TestLostPrefillIsRefused(t *testing.T) {
	f := func(src, words string, messages ...llm.Message) {
		t.Helper()
		got, err := mustJinja(t, src, Options{Fold: true}).Render(asked(t, `{"continue_final_message":true}`, messages...))
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != 400 || !strings.Contains(e.Message, words) {
			t.Errorf("%s: %q %v", src, got.Prompt.Text(), err)
		}
	}
	f("{% for m in messages %}{{ m.content.replace('x', 'y') }}{% endfor %}", "changes the message", user("q"), assistant("x"))
	f("{% for m in messages %}{% if not loop.last or m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}",
		"no place for a message", user("q"), assistant("a"))
	f("{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ messages[0].content }}{{ messages[1].content }}{{ messages[2].content }}",
		"no place for a message", system("s"), assistant("a"))
}

func TestReasoningIsHandedBack(t *testing.T) {
	f := func(name string) {
		t.Helper()
		src := "{% for m in messages %}{{ m.content }}{% if m." + name + " %}({{ m." + name + " }}){% endif %}{% endfor %}"
		tm := mustJinja(t, src, Options{Special: []string{"<s>"}})
		got, err := tm.Render(chat(user("q"), thought("a", "<s> é"), user("r")))
		if err != nil || drawn(got.Prompt) != "[qa(<][s> é)r]" {
			t.Errorf("%s: %q %v", name, drawn(got.Prompt), err)
		}
	}
	f("reasoning_content")
	f("reasoning")
	f("thinking")
}

// TestBC047 is: whether the model begins within its reasoning is known from
// the end of the prompt, whatever users write in it.
func TestBC047(t *testing.T) {
	f := func(want bool, src, body string, messages ...llm.Message) {
		t.Helper()
		got, err := mustJinja(t, src, Options{Special: []string{"<x>"}}).Render(asked(t, body, messages...))
		if err != nil || got.OpensThink != want {
			t.Errorf("%q: %v %v", got.Prompt.Text(), got.OpensThink, err)
		}
	}
	const resume = `{"continue_final_message":true}`
	for _, tag := range thinkTags {
		f(true, turned+tag.Open, `{}`, user("q"))
		f(true, turned+tag.Open+"{{ '\\n' }}", `{}`, user(tag.End))
		f(false, turned+tag.Open+"{{ '\\n\\n' }}"+tag.End+"{{ '\\n\\n' }}", `{}`, user("q"))
		f(false, turned, `{}`, user("Write "+tag.Open))
		f(true, turned, resume, user("q"), assistant(tag.Open+"\nSo <x> far"))
		f(false, turned, resume, user("q"), assistant(tag.Open+"\nSo"+tag.End+" far"))
	}
	f(false, turned, `{}`, user("q"), assistant("<think>"))
	f(false, turned, resume, user("<think>"), assistant("a"))
	f(true, "{% for m in messages %}{{ m.role }}<think>{{ m.content }}{% endfor %}", resume, user("q"), assistant("So <x> far "))
}

// FuzzRequest is: whatever else a request says, the answer is a prompt without
// control tokens of the client's, or a bad request.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"tools":[{"type":"function","function":{"name":"<s>"}}]}`, `{"tools":{}}`, `{"tools":"x","functions":[1,{}]}`,
		`{"chat_template_kwargs":{"enable_thinking":false,"o":"<s>\ufdd0"}}`, `{"reasoning_effort":{"a":[]},"tool_choice":"none"}`,
		`{"continue_final_message":true,"add_generation_prompt":false}`, `{"tools":[1e999,"\ud800"]}`, `{"chat_template_kwargs":{"namespace":1,"o":1}}`,
	} {
		f.Add([]byte(s), "text")
	}
	const src = "{% if tools %}{{ tools | tojson }}{{ tools | tojson(ensure_ascii=true) }}{% endif %}{{ o }}{{ enable_thinking }}{{ reasoning_effort }}" +
		"{% for m in messages %}[{{ m.role }}]{{ m.content }}{{ m.reasoning_content }}{% endfor %}"
	tm, err := Jinja(src, Options{Special: []string{"<s>"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, content string) {
		members, err := jsonscan.Members(body, 100)
		if err != nil || !utf8.Valid(body) || !utf8.ValidString(content) {
			return
		}
		got, err := tm.Render(&llm.Request{Raw: body, Members: members, Messages: []llm.Message{user(content), {Role: "assistant", Content: content, Raw: body}}})
		var e *llm.Error
		if err != nil && (!errors.As(err, &e) || e.Status != 400) {
			t.Fatal(err)
		}
		for _, piece := range got.Prompt {
			if strings.Contains(piece.Text, "<s>") {
				t.Fatalf("a control token in %q", piece.Text)
			}
		}
	})
}
