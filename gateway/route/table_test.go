package route

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/gateway/config"
)

func names(t *testing.T) *Table {
	t.Helper()
	entry := func(name, model string, aliases ...string) config.Model {
		return config.Model{Name: name, Aliases: aliases, Backends: []config.Backend{{Adapter: "it", URL: "http://h", Model: model}}}
	}
	table, err := New(&config.Config{
		Adapters: map[string]adapters.Adapter{"it": newDialect(adapters.Traits{Messages: true})},
		Models: []config.Model{
			entry("vicuna", "vicuna-13b", "gpt-3.5-turbo", "GPT-4"),
			entry("ollama/*", "*"),
			entry("ollama/llama*", "hf/*-gguf"),
			entry("ollama/llama3", "exact"),
			entry("*", "*"),
		},
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestPick(t *testing.T) {
	table := names(t)
	f := func(name, entry, model string) {
		t.Helper()
		m, err := table.Pick(name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
		} else if m.Name() != entry || m.steps[0].wanted(only(m)) != model {
			t.Errorf("%q: got %q as %q, want %q as %q", name, m.Name(), m.steps[0].wanted(only(m)), entry, model)
		}
	}
	f("vicuna", "vicuna", "vicuna-13b")
	f("gpt-3.5-turbo", "vicuna", "vicuna-13b")
	f("GPT-4", "vicuna", "vicuna-13b")
	f("gpt-4", "*", "gpt-4") // names are case-sensitive
	f("ollama/qwen:7b", "ollama/*", "qwen:7b")
	f("ollama/llama3", "ollama/llama3", "exact")
	f("ollama/llama3:8b", "ollama/llama*", "hf/3:8b-gguf")
	f("ollama/llama", "ollama/*", "llama") // a * stands for something
	f("ollama/*", "ollama/*", "*")
	f("x", "*", "x")
	// A pick leaves no trace in the entry.
	f("ollama/mistral", "ollama/*", "mistral")
}

func TestModelsAreListedInOrder(t *testing.T) {
	var got []string
	for _, m := range names(t).Models(t.Context()) {
		got = append(got, m.ID)
		if m.Created == 0 || m.OwnedBy == "" {
			t.Errorf("got %+v", m)
		}
	}
	if want := []string{"vicuna", "gpt-3.5-turbo", "GPT-4", "ollama/llama3"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestUnknownModel(t *testing.T) {
	table := one(t, newDialect(adapters.Traits{Messages: true}), config.Backend{URL: "http://h"})
	_, err := table.Pick("gpt-5")
	e := asError(t, err)
	if e.Status != 404 || e.Type != "invalid_request_error" || e.Code != "model_not_found" || e.Param != "model" || !strings.Contains(e.Message, "'gpt-5'") {
		t.Errorf("got %+v", e)
	}
	_, err = table.Pick(strings.Repeat("ü", 5000))
	if e := asError(t, err); len(e.Message) > 400 || !strings.Contains(e.Message, "üü...") {
		t.Errorf("got %d bytes: %s", len(e.Message), e.Message)
	}
	_, err = table.Pick("a\n\x1b[31m" + strings.Repeat("x", 1000))
	if e := asError(t, err); !strings.Contains(e.Message, `'a\n\x1b[31mxxx`) || len(e.Message) > 200 {
		t.Errorf("got %q", e.Message)
	}
}

func TestNewNamesWhatItCannotBuild(t *testing.T) {
	c := &config.Config{
		Adapters: map[string]adapters.Adapter{"it": newDialect(adapters.Traits{})},
		Models: []config.Model{
			{Name: "a", Path: "models.a", Backends: []config.Backend{{Adapter: "it", Template: "broken.jinja", TemplateFile: "testdata/broken.jinja"}}},
			{Name: "b", Path: "models.b", Backends: []config.Backend{{Adapter: "it", Template: "refuses.jinja", TemplateFile: "testdata/refuses.jinja"}}},
		},
	}
	_, err := New(c, Options{})
	if err == nil {
		t.Fatal("templates that cannot work were taken")
	}
	for _, want := range []string{"models.a.template: ", "broken.jinja", "models.b.template: ", "refuses.jinja"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestCloseWithoutUse(t *testing.T) {
	if err := names(t).Close(context.Background()); err != nil {
		t.Error(err)
	}
}
