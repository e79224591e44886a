package prompt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// Render implements adapters.Template.
func (t *template) Render(req *llm.Request) (adapters.Rendered, error) {
	c, err := t.conversation(req)
	if err != nil {
		return adapters.Rendered{}, err
	}
	first, last, err := t.levels(req.Messages)
	if err != nil {
		return adapters.Rendered{}, err
	}
	var refused *refusal
	for level := first; level <= last; level++ {
		folded := *c
		folded.messages = fold(req.Messages, level)
		text, err := t.execute(&folded)
		if err == nil {
			text, err = folded.cut(text)
		}
		if r := (*refusal)(nil); errors.As(err, &r) {
			if refused == nil {
				refused = r
			}
			continue
		}
		if err != nil {
			return adapters.Rendered{}, invalid("the model's chat template failed: %s", err.Error())
		}
		return adapters.Rendered{
			Prompt: t.breaker.split(text, c.mark), Stop: t.Stop, Tools: t.tools, OpensThink: opensThink(c.unmarked(text), folded.continued()),
			Source: t.source,
		}, nil
	}
	return adapters.Rendered{}, invalid("the model's chat template refuses the messages: %s", refused.words)
}

// invalid returns the error for a conversation that cannot be rendered. words
// come from the template and may repeat what the client sent.
func invalid(format, words string) *llm.Error {
	const most = 500 // bytes
	words = strings.Map(func(r rune) rune {
		if isNoncharacter(r) {
			return -1
		}
		return r
	}, words)
	if len(words) > most {
		words = strings.ToValidUTF8(words[:most], "") + "..."
	}
	return llm.Invalid("messages", "invalid_value", format, words)
}

// recovered makes an error of a panic: the library does not promise to have none.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the template library broke down: %v", r)
	}
}

// execute runs the template on a conversation as it is.
func (t *template) execute(c *conversation) (text string, err error) {
	defer recovered(&err)
	l := t.limits
	l.bytes += 4 * c.size()
	vars, err := t.variables(c)
	if err != nil {
		return "", err
	}
	t.guards.install(vars, l)
	return t.compiled.RenderValues(vars)
}

// variables are what the template sees. They are made anew for each rendering,
// as it may change them.
func (t *template) variables(c *conversation) (map[string]jinja.Value, error) {
	text := func(s string) string { return t.breaker.text(s, c.mark) }
	vars := map[string]jinja.Value{
		"messages":              t.messages(c, text),
		"tools":                 jinja.None(),
		"documents":             jinja.None(),
		"add_generation_prompt": jinja.NewBool(c.generate),
		"bos_token":             jinja.NewString(t.BOS),
		"eos_token":             jinja.NewString(t.EOS),
		"strftime_now":          strftimeNow(t.Now),
		"raise_exception":       raiseException,
	}
	if c.tools != nil {
		tools, err := decode(c.tools, text)
		if err != nil {
			return nil, fmt.Errorf("reading the tools: %w", err)
		}
		vars["tools"] = tools
	}
	for _, v := range c.vars {
		value, err := decode(v.value, text)
		if err != nil {
			return nil, fmt.Errorf("reading the template's variables: %w", err)
		}
		vars[v.name] = value
	}
	return vars, nil
}
