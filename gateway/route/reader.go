package route

import (
	"sync/atomic"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/parse"
)

// reader knows how a backend's models write reasoning and tool calls.
type reader struct {
	tools, reasoning string // the configuration's words
	last             atomic.Pointer[known]
}

// known is what was found in one template.
type known struct {
	source string
	format *parse.Format
}

// format returns how a model with this template writes.
func (r *reader) format(source string) *parse.Format {
	if k := r.last.Load(); k != nil && k.source == source {
		return k.format
	}
	k := &known{source, parse.New(source, r.tools, r.reasoning)}
	r.last.Store(k)
	return k.format
}

// callsTools reports whether a template shows tools to its model, and how that
// calls them is known.
func (r *reader) callsTools(t adapters.Template) bool {
	made, err := t.Render(&llm.Request{Messages: []llm.Message{{Role: "user", Content: "hello"}}})
	return err == nil && made.Tools && r.format(made.Source).Tools()
}

// offersTools reports whether need is for tools that the model may call. Where it
// must call one, a prompt alone does not see to that.
func offersTools(need llm.Need) bool { return need.Field == "tools" }
