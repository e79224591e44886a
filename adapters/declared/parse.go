package declared

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/yamlstrict"
)

// Spec is one declared adapter, checked and compiled. It is read-only.
type Spec struct {
	traits adapters.Traits
	call   call
	cancel *call // nil: closing the connection is enough
	reader reader
}

// call is how one call is written.
type call struct {
	method string
	path   string
	body   *node
}

// Parse reads and compiles the spec called name. The errors are everything
// that is wrong with it, each a *yamlstrict.Error with a path below
// adapters.name; the Spec is nil if there are any.
func Parse(name string, n *yaml.Node) (*Spec, []error) {
	p := parser{at: yamlstrict.Key("adapters", name), line: n.Line}
	var src source
	p.errs = yamlstrict.Decode(n, p.at, &src)
	s := &Spec{}
	p.traits(s, &src)
	p.send(s, &src.Send)
	p.read(s, &src.Read)
	p.cancel(s, src.Cancel)
	p.questions(s, &src)
	p.ending(&src)
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	return s, nil
}

type parser struct {
	at   string // the spec's path
	line int
	errs []error
}

// bad notes that what stands at key, which is in line (0 if unknown), is wrong.
func (p *parser) bad(key string, line int, format string, args ...any) {
	p.errs = append(p.errs, &yamlstrict.Error{
		Path: p.at + "." + key, Line: line, Msg: fmt.Sprintf(format, args...),
	})
}

// framings are the names of those that a spec may have.
var framings = slices.DeleteFunc(slices.Clone(frame.Kinds()), func(name string) bool { return name == frame.GRPC.String() })

func (p *parser) traits(s *Spec, src *source) {
	kind, ok := frame.ParseKind(src.Framing)
	switch {
	case src.Framing == "":
		p.bad("framing", p.line, "missing (valid: %s)", strings.Join(framings, ", "))
	case kind == frame.GRPC:
		p.bad("framing", 0, "grpc is not for declared adapters: its messages are no JSON, so reading them needs code")
	case !ok:
		p.bad("framing", 0, "unknown framing %q%s", src.Framing, yamlstrict.Suggest(src.Framing, framings))
	}
	if kind == frame.WS && src.Unary {
		p.bad("unary", 0, "cannot stand beside framing ws: a WebSocket has no answer in one piece")
	}
	if src.MaxConcurrent < 0 {
		p.bad("max_concurrent", 0, "must be 0 (no bound) or more, not %d", src.MaxConcurrent)
	}
	if i := slices.Index(src.EndTexts, ""); i >= 0 {
		p.bad(yamlstrict.Index("end_texts", i), 0, "must not be empty")
	}
	s.traits = adapters.Traits{
		Framing: kind, Cumulative: src.Cumulative, EchoPrompt: src.EchoPrompt, EndMarker: src.EndMarker,
		EndTexts: src.EndTexts, EOFIsFinish: src.EOFIsFinish, Unary: src.Unary, SingleChoice: true,
		MaxConcurrent: src.MaxConcurrent, NoMaxTokens: src.NoMaxTokens,
	}
}

// ending checks that something tells a complete answer from a broken one.
func (p *parser) ending(src *source) {
	r := &src.Read
	if r.Finish == "" && r.Done == nil && src.EndMarker == "" && !src.EOFIsFinish {
		p.errs = append(p.errs, &yamlstrict.Error{Path: p.at, Line: p.line, Msg: "nothing says when an answer is complete: " +
			"set read.finish, read.done or end_marker, or eof_is_finish: true if there is only the end of the answer"})
	}
}

// steps cuts the path at key, noting if it is not one.
func (p *parser) steps(key, path string, line int) []string {
	steps, err := splitPath(path)
	if err != nil {
		p.bad(key, line, "%q: %v", path, err)
	}
	return steps
}

// Words of finish_map that are no llm.Finish: the answer is broken off; the
// word says nothing.
const (
	finishError llm.Finish = "error"
	finishNone  llm.Finish = "none"
)

// finishWords are the values of finish_map.
var finishWords = []string{
	string(llm.FinishStop), string(llm.FinishLength), string(llm.FinishTools), string(llm.FinishFilter),
	string(finishError), string(finishNone),
}

func (p *parser) finishMap(r *reader, words map[string]string) {
	r.finishMap = map[string]llm.Finish{}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if !slices.Contains(finishWords, words[word]) {
			p.bad(yamlstrict.Key("read.finish_map", word), 0, "unknown finish %q%s", words[word], yamlstrict.Suggest(words[word], finishWords))
		}
		r.finishMap[word] = llm.Finish(words[word])
	}
	if len(words) > 0 && r.finish < 0 {
		p.bad("read.finish", p.line, "missing, but there is a finish_map")
	}
}
