package route

import (
	"context"
	"reflect"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/gateway/config"
)

func TestWhatABackendCannotDoIsRefused(t *testing.T) {
	b := &backend{adapter: newDialect(adapters.Traits{Messages: true, Accepts: []string{"tools"}})}
	f := func(field, path, raw, code, message string) {
		t.Helper()
		r := chat("hi")
		r.Needs = []llm.Need{{Field: "tools", Path: "tools"}, {Field: field, Path: path}}
		if raw != "" {
			r.Raw = []byte(raw)
			r.Members = []llm.Member{{Name: "response_format", End: len(raw)}}
		}
		err := b.able(r)
		if code == "" {
			if err != nil {
				t.Errorf("%s: %v", field, err)
			}
			return
		}
		e := asError(t, err)
		if e.Status != 400 || e.Type != "invalid_request_error" || e.Param != path || e.Code != code || e.Message != message {
			t.Errorf("%s: got %+v", field, e)
		}
	}
	f("tools", "tools", "", "", "")
	f("n", "n", "", "", "") // it is asked several times
	f("logit_bias", "logit_bias", "", "unsupported_parameter", "'logit_bias' is not supported with this model.")
	f("image_url", "messages[1].content[0].type", "", "unsupported_value", "'image_url' is not supported with this model.")
	f("response_format", "response_format", `{"type":"json_object"}`, "unsupported_parameter",
		"'response_format' is not supported with this model.")
	f("response_format", "response_format", `{"type":"json_schema"}`, "unsupported_parameter",
		"'response_format' of type 'json_schema' is not supported with this model.")
}

// A model that takes a prompt may be offered tools, if its template shows them
// and it is known how the model calls them.
func TestToolsOfPromptBackends(t *testing.T) {
	f := func(b *backend, field, want string) {
		t.Helper()
		b.adapter = newDialect(adapters.Traits{})
		r := chat("hi")
		r.Needs = []llm.Need{{Field: field, Path: field}}
		got := ""
		if err := b.able(r); err != nil {
			got = asError(t, err).Param
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	f(&backend{}, "tools", "")
	f(&backend{}, "functions", "functions") // its answer has a form that nothing writes
	f(&backend{}, "tool_choice", "tool_choice")
	f(&backend{}, "custom_tools", "custom_tools")
	f(&backend{noTools: true}, "tools", "tools")
}

// A template that is asked of the backend may turn out to have no place for tools.
func TestToolsOfAskedTemplates(t *testing.T) {
	f := func(made adapters.Rendered, tools, want string) {
		t.Helper()
		a := &asking{dialect: newDialect(adapters.Traits{}), answer: func(context.Context, adapters.Ask, string) (adapters.Template, error) {
			return rendered(made), nil
		}}
		m := pick(t, one(t, a, config.Backend{URL: serve(t, says("<tool_call>\n")), Parse: tools}), "m")
		r := chat("hi")
		r.Needs = []llm.Need{{Field: "tools", Path: "tools"}}
		got := ""
		if s, err := m.Open(t.Context(), r); err != nil {
			got = asError(t, err).Param
		} else {
			text(t, s)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	f(adapters.Rendered{Tools: true, Source: "<tool_call>"}, "", "")
	f(adapters.Rendered{Tools: true}, "hermes", "")
	f(adapters.Rendered{Tools: true}, "", "tools")
	f(adapters.Rendered{Source: "<tool_call>"}, "", "tools")
	f(adapters.Rendered{Tools: true, Source: "<tool_call>"}, "none", "tools")
}

// rendered is a template that always makes the same.
type rendered adapters.Rendered

func (r rendered) Render(*llm.Request) (adapters.Rendered, error) { return adapters.Rendered(r), nil }

func TestDropLeavesOut(t *testing.T) {
	b := &backend{
		adapter: newDialect(adapters.Traits{Messages: true}), maxTokens: 1024,
		drop: dropped([]string{"tools", "seed", "stop", "n", "max_tokens", "logprobs"}),
	}
	r := chat("hi")
	r.N, r.Stop, r.MaxTokens = 3, []string{"x"}, 5
	r.Params[llm.Seed], r.Params[llm.TopP] = "7", "0"
	r.Needs = []llm.Need{
		{Field: "tools", Path: "tools"},
		{Field: "tool_choice", Path: "tool_choice"},
		{Field: "custom_tools", Path: "tools[0].type"},
		{Field: "n", Path: "n"},
	}
	r.Members = []llm.Member{{Name: "seed"}, {Name: "tools"}, {Name: "top_p"}, {Name: "tool_choice"}, {Name: "top_logprobs"}}
	before := *r
	if err := b.able(r); err != nil {
		t.Fatal(err)
	}
	got := b.prepare(r, "m")
	if got.N != 1 || got.Stop != nil || got.MaxTokens != 0 || got.Params[llm.Seed] != "" || got.Params[llm.TopP] != "0" || got.Needs != nil {
		t.Errorf("got %+v", got)
	}
	if !reflect.DeepEqual(got.Members, []llm.Member{{Name: "top_p"}}) {
		t.Errorf("members: %+v", got.Members)
	}
	if !reflect.DeepEqual(*r, before) {
		t.Errorf("the caller's request was changed: %+v", r)
	}
}

func TestMaxTokens(t *testing.T) {
	f := func(kind llm.Kind, noMaxTokens bool, asked, want int64) {
		t.Helper()
		b := &backend{adapter: newDialect(adapters.Traits{NoMaxTokens: noMaxTokens}), maxTokens: 1024}
		r := chat("hi")
		r.Kind, r.MaxTokens = kind, asked
		got := b.prepare(r, "m")
		if got.MaxTokens != want {
			t.Errorf("kind %d, noMaxTokens %v, asked %d: got %d, want %d", kind, noMaxTokens, asked, got.MaxTokens, want)
		}
	}
	f(llm.Chat, false, 0, 1024)
	f(llm.Chat, false, llm.NoLimit, 1024)
	f(llm.Chat, false, 5, 5)
	f(llm.Chat, true, 0, 0)
	f(llm.Chat, true, llm.NoLimit, llm.NoLimit)
	f(llm.Chat, true, 5, 5)
	f(llm.Completion, true, 0, 0) // messages that are one text
	f(llm.Completion, false, 0, 1024)
	f(llm.Completion, false, 16, 16)
	f(llm.Completion, false, llm.NoLimit, 1024)
}

func TestCompletionsNeedAPrompt(t *testing.T) {
	r := chat("")
	r.Kind, r.Messages, r.Prompt = llm.Completion, nil, llm.Prompt{{Text: "once"}}
	f := func(traits adapters.Traits, ok bool) {
		t.Helper()
		err := (&backend{adapter: newDialect(traits)}).able(r)
		if ok {
			if err != nil {
				t.Errorf("got %v", err)
			}
			return
		}
		if e := asError(t, err); e.Status != 400 || e.Param != "model" {
			t.Errorf("got %+v", e)
		}
	}
	f(adapters.Traits{}, true)
	f(adapters.Traits{Messages: true}, false)
	f(adapters.Traits{Messages: true, Accepts: []string{"prompt"}}, true)
}

func TestMergeIDs(t *testing.T) {
	f := func(list string, ids []int, want string) {
		t.Helper()
		if got := mergeIDs(list, ids); got != want {
			t.Errorf("%q + %v: got %q, want %q", list, ids, got, want)
		}
	}
	f("", nil, "")
	f("", []int{2}, "[2]")
	f("[]", []int{2, 3}, "[2,3]")
	f(" [ 1, 5 ] ", []int{2}, "[1, 5,2]")
	f("[1]", nil, "[1]")
}
