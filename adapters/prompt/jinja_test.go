package prompt

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

func user(s string) llm.Message      { return llm.Message{Role: "user", Content: s} }
func system(s string) llm.Message    { return llm.Message{Role: "system", Content: s} }
func assistant(s string) llm.Message { return llm.Message{Role: "assistant", Content: s} }

func chat(messages ...llm.Message) *llm.Request { return &llm.Request{Messages: messages} }

func mustJinja(t *testing.T, src string, o Options) adapters.Template {
	t.Helper()
	tm, err := Jinja(src, o)
	if err != nil {
		t.Fatal(err)
	}
	return tm
}

func TestRenderIsReadable(t *testing.T) {
	tm, err := Named("chatml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tm.Render(chat(system("Be kind."), user("Hello!")))
	if err != nil {
		t.Fatal(err)
	}
	const want = `<|im_start|>system
Be kind.<|im_end|>
<|im_start|>user
Hello!<|im_end|>
<|im_start|>assistant
`
	if got.Prompt.Text() != want {
		t.Errorf("got:\n%s\nwant:\n%s", got.Prompt.Text(), want)
	}
	if len(got.Stop) != 1 || got.Stop[0] != "<|im_end|>" {
		t.Errorf("stop: %q", got.Stop)
	}
}

func TestTemplateErrorsSayWhatAndWhere(t *testing.T) {
	f := func(src string, words ...string) {
		t.Helper()
		_, err := Jinja(src, Options{})
		if err == nil {
			t.Errorf("%s: no error", src)
			return
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", src, err, w)
			}
		}
	}
	const body = "{{ messages[0].content }}"
	// BC-093: a filter that is missing, also where the test renderings do not come by.
	f(body+"\n{#- c\n -#}\n{% if false %}{{ 'a' | zz }}{% endif %}", "line 4", `unknown filter "zz"`)
	f(body+"\r\n\r\n{% if 'a' is zz %}{% endif %}", "line 3", `unknown test "zz"`)
	f(body+"\n{% filter zz %}{% endfilter %}", "line 2", `unknown filter "zz"`)
	f(body+"\n{#- a\n\nb -#}\n\n  {%- with x = 1 -%}{% endwith %}", "line 6", `"with"`)
	f("{#- a\n\nb -#}\n\n  {{- (1 }}"+body, "line 5")
	f("\n\n{{ 'a", "line 3", "not closed")
	f("\n{# a", "line 2", "not closed")
	f("\n{% raw %} {% endfor %}", "line 2", "raw block")
	f(body+"\n{% if true %}", "if")
	f(body+"{{ 'a,b'.rsplit(',') }}", "rendering a user message")
	f(body+"{% if messages[0].role == 'system' %}{{ 'a,b'.rsplit(',') }}{% endif %}", "rendering system messages")
	f("{% for m in messages if m.role != 'user' %}{{ m.content }}{% endfor %}", "does not appear")
	f("{{ raise_exception('closed today') }}", "closed today")
}

// BC-093: a template that shows no message at all is its writer's choice.
func TestTemplateWithoutMessages(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		template, err := Jinja(src, Options{Fold: true})
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		got, err := template.Render(&llm.Request{Messages: []llm.Message{{Role: "user", Content: "Hi"}}})
		if err != nil || got.Prompt.Text() != want {
			t.Errorf("%s: got %q, %v, want %q", src, got.Prompt.Text(), err, want)
		}
	}
	f(`{{ {"é": 1}|tojson(ensure_ascii=False) }}`, `{"é": 1}`)
	f(`{%- set m = messages[1:] %}{{ m|length }}`, "0")
	f(`{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% endfor %}{{ ns.n }}`, "1")
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.jinja")
	if _, err := File(path, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	write := func(src string) {
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("{{ messages[0].content | zz }}")
	if _, err := File(path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the error does not name the file: %v", err)
	}
	write("Q: {{ messages[0].content }}\nA:\n")
	tm, err := File(path, Options{Stop: []string{"Q:"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tm.Render(chat(user("why?")))
	if err != nil || got.Prompt.Text() != "Q: why?\nA:" || got.Stop[0] != "Q:" {
		t.Errorf("%q %q %v", got.Prompt.Text(), got.Stop, err)
	}
}

func TestUnknownNameListsTheKnown(t *testing.T) {
	_, err := Named("chatlm")
	if err == nil || !strings.Contains(err.Error(), "chatml, command-r") {
		t.Error(err)
	}
}

func TestClockIsInjected(t *testing.T) {
	tm := mustJinja(t, "{{ strftime_now('%d %b %Y') }} {{ messages[0].content }}",
		Options{Now: func() time.Time { return referenceTime }})
	got, err := tm.Render(chat(user("x")))
	if err != nil || got.Prompt.Text() != "05 Mar 2026 x" {
		t.Errorf("%q %v", got.Prompt.Text(), err)
	}
}

func TestToolCallsAsTheTemplateWantsThem(t *testing.T) {
	const arguments = `{"z":1,"city":"Paris","n":2.0}`
	call := llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "call00001", Name: "look", Arguments: arguments}}}
	answer := llm.Message{Role: "tool", Name: "look", ToolCallID: "call00001", Content: "sun"}
	f := func(print, want string) {
		t.Helper()
		src := "{% for m in messages %}{{ m.role }}:{{ m.content }}{% for c in m.tool_calls %}" +
			"{% set a = c.function.arguments %}[{{ c.id }} {{ c.type }} {{ c.function.name }} " + print +
			"]{% endfor %}{{ m.tool_call_id }}{{ m.name }};{% endfor %}"
		got, err := mustJinja(t, src, Options{}).Render(chat(user("q"), call, answer))
		want = "user:q;assistant:[call00001 function look " + want + "];tool:suncall00001look;"
		if err != nil || got.Prompt.Text() != want {
			t.Errorf("%s:\n got %q, %v\nwant %q", print, got.Prompt.Text(), err, want)
		}
	}
	f("{{ a }}", arguments)
	f("{{ a if a is string else a | tojson }}", arguments)
	f("{{ a | tojson }}", `{"z": 1, "city": "Paris", "n": 2.0}`)
	f("{% for k, v in a.items() %}{{ k }}={{ v }} {% endfor %}", "z=1 city=Paris n=2.0 ")
	f("{% for k in a %}{{ k }}={{ a[k] }} {% endfor %}", "z=1 city=Paris n=2.0 ")
}

func TestTemplateThatWantsParts(t *testing.T) {
	tm := mustJinja(t, "{% for m in messages %}{% for p in m.content %}{% if p.type == 'text' %}<{{ p.text }}>{% endif %}{% endfor %}{% endfor %}", Options{})
	got, err := tm.Render(chat(user("one"), assistant("two")))
	if err != nil || got.Prompt.Text() != "<one><two>" {
		t.Errorf("%q %v", got.Prompt.Text(), err)
	}
}

func TestEveryErrorIsABadRequest(t *testing.T) {
	// BC-092: what the template cannot do with a conversation is never a 500.
	tm := mustJinja(t, "{% for m in messages %}{{ m.content }}{% if 'boom' in m.content %}{{ m.content() }}{% endif %}"+
		"{% if 'long' in m.content %}{{ raise_exception('x' * 9000) }}{% endif %}{% endfor %}", Options{})
	f := func(content, words string) {
		t.Helper()
		_, err := tm.Render(chat(user(content)))
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != http.StatusBadRequest || e.Param != "messages" ||
			!strings.Contains(e.Message, words) || len(e.Message) > 600 {
			t.Errorf("%s: %v", content, err)
		}
	}
	f("boom", "not callable")
	f("long", "xxx...")
}

func TestRenderConcurrently(t *testing.T) {
	tm, err := NamedWith("llama2", Options{Fold: true, Special: []string{"<s>", "</s>"}})
	if err != nil {
		t.Fatal(err)
	}
	requests := []*llm.Request{
		chat(user("a")), chat(system("s"), user("b <s>")), chat(user("a"), user("b")), chat(user("a"), assistant("</s>"), user("b")),
	}
	var want []string
	for _, r := range requests {
		got, err := tm.Render(r)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, got.Prompt.Text())
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 100 {
				got, err := tm.Render(requests[i%len(requests)])
				if err != nil || got.Prompt.Text() != want[i%len(requests)] {
					t.Errorf("%q %v", got.Prompt.Text(), err)
				}
			}
		})
	}
	group.Wait()
}
