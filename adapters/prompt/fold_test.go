package prompt

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

// strict knows user and assistant in turns, and refuses all else.
const strict = `{% for m in messages %}
{% if m.role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}
<{{ m.role }}>{{ m.content }}
{%- endfor %}`

// deaf loses system messages without a word.
const deaf = `{% for m in messages if m.role in ['user', 'assistant'] %}<{{ m.role }}>{{ m.content }}{% endfor %}`

// headOnly knows a system message at the beginning, and loses others.
const headOnly = `{% for m in messages %}{% if m.role != 'system' or loop.first %}<{{ m.role }}>{{ m.content }}{% endif %}{% endfor %}`

// TestBC092Fold is: a template that does not know a role gets the text in a way
// that it knows.
func TestBC092Fold(t *testing.T) {
	f := func(src string, messages []llm.Message, want string) {
		t.Helper()
		tm := mustJinja(t, src, Options{Fold: true})
		before := append([]llm.Message(nil), messages...)
		got, err := tm.Render(&llm.Request{Messages: messages})
		if err != nil || got.Prompt.Text() != want {
			t.Errorf("got %q, %v\nwant %q", got.Prompt.Text(), err, want)
		}
		if !reflect.DeepEqual(before, messages) {
			t.Errorf("the request was changed: %v", messages)
		}
	}
	m := func(messages ...llm.Message) []llm.Message { return messages }

	f(strict, m(user("a")), "<user>a")
	f(strict, m(system("s"), user("a")), "<user>s\n\na")
	f(strict, m(system("s"), system("t"), user("a")), "<user>s\n\nt\n\na")
	f(strict, m(user("a"), user("b")), "<user>a\n\nb")
	f(strict, m(user("a"), assistant("x"), assistant("y"), system("s"), user("b")), "<user>a<assistant>x\n\ny<user>s\n\nb")
	f(strict, m(system("s")), "<user>s")
	f(strict, m(user("a"), system("s")), "<user>a\n\ns")
	f(strict, m(system(""), user("a")), "<user>a")

	f(deaf, m(user("a"), user("b")), "<user>a<user>b")
	f(deaf, m(system("s"), user("a")), "<user>s\n\na")
	f(deaf, m(user("a"), assistant("x"), system("s"), user("b")), "<user>a<assistant>x<user>s\n\nb")

	f(headOnly, m(system("s"), user("a")), "<system>s<user>a")
	f(headOnly, m(system("s"), system("t"), user("a")), "<system>s\n\nt<user>a")
	f(headOnly, m(system("s"), user("a"), assistant("x"), system("t"), user("b")), "<system>s<user>a<assistant>x<user>t\n\nb")
}

// TestBC092Refuse is: without folding, and where it does not help, the client
// gets 400 with the template's words, and no message is lost.
func TestBC092Refuse(t *testing.T) {
	f := func(src string, fold bool, words string, messages ...llm.Message) {
		t.Helper()
		got, err := mustJinja(t, src, Options{Fold: fold}).Render(&llm.Request{Messages: messages})
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != 400 || e.Code != "invalid_value" || !strings.Contains(e.Message, words) {
			t.Errorf("%q: %q, %v", words, got.Prompt.Text(), err)
		}
	}
	call := llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "call00001", Name: "look", Arguments: "{}"}}}
	tool := llm.Message{Role: "tool", ToolCallID: "call00001", Content: "sun"}

	f(strict, false, "System role not supported", system("s"), user("a"))
	f(strict, false, "Roles must alternate", user("a"), user("b"))
	f(strict, true, "Roles must alternate", assistant("x"), user("a"))
	f(strict, true, "Roles must alternate", user("a"), assistant("x"), tool)
	f(strict, true, "no place for tool calls", user("a"), call, user("b"))
	f(deaf, false, "no place for system messages", system("s"), user("a"))
	f(deaf, false, "no place for system messages after", user("a"), system("s"), user("b"))
	f(deaf, true, "no place for tool messages", user("a"), assistant("x"), tool)
	f(headOnly, false, "no place for more than one system message", system("s"), system("t"), user("a"))
	f("{{ messages[-1].content }}", true, "no place for", user("a"), assistant("x"), user("b"))
}

func TestFoldKeepsToolMessagesApart(t *testing.T) {
	a := llm.Message{Role: "tool", ToolCallID: "1", Content: "x"}
	b := llm.Message{Role: "tool", ToolCallID: "2", Content: "y"}
	if got := fold([]llm.Message{a, b}, foldAll); !reflect.DeepEqual(got, []llm.Message{a, b}) {
		t.Error(got)
	}
}

func TestFoldMergesToolCallsAndNames(t *testing.T) {
	one := llm.Message{Role: "assistant", Name: "n", ToolCalls: []llm.ToolCall{{ID: "1"}}}
	two := llm.Message{Role: "assistant", Content: "t", ToolCalls: []llm.ToolCall{{ID: "2"}}}
	want := llm.Message{Role: "assistant", Content: "t", ToolCalls: []llm.ToolCall{{ID: "1"}, {ID: "2"}}}
	if got := fold([]llm.Message{one, two}, mergeRows); !reflect.DeepEqual(got, []llm.Message{want}) {
		t.Error(got)
	}
}
