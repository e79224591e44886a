package declared

import (
	"gopkg.in/yaml.v3"

	"dragoman/adapters/frame"
	"dragoman/adapters/yamlstrict"
)

// read compiles the places of a frame's parts.
func (p *parser) read(s *Spec, src *read) {
	r := &s.reader
	r.cumulative = s.traits.Cumulative
	for _, n := range []*yaml.Node{&src.Text, &src.Reasoning, &src.Error, &src.ErrorMessage} {
		if n.ShortTag() == "!!null" { // as if the key were absent
			*n = yaml.Node{}
		}
	}
	if src.Text.Kind == 0 {
		p.bad("read.text", p.line, `missing: the path of the text in a frame, or "." for the whole frame`)
		return
	}
	if p.plain(s, src) {
		return
	}
	r.text = p.slots(r, "read.text", &src.Text)
	r.reasoning = p.slots(r, "read.reasoning", &src.Reasoning)
	r.finish = p.slot(r, "read.finish", src.Finish, 0)
	r.promptTokens = p.slot(r, "read.prompt_tokens", src.PromptTokens, 0)
	r.completionTokens = p.slot(r, "read.completion_tokens", src.CompletionTokens, 0)
	r.frameTokens = p.slot(r, "read.frame_tokens", src.FrameTokens, 0)
	if src.FrameTokens != "" && src.CompletionTokens != "" {
		p.bad("read.frame_tokens", 0, "cannot stand beside completion_tokens, which counts all frames so far")
	}
	r.skip = p.condition(r, "read.skip", src.Skip)
	r.done = p.condition(r, "read.done", src.Done)
	p.finishMap(r, src.FinishMap)
	p.failures(r, src)
}

// plain compiles the reading of frames that are plain text, and reports
// whether they are.
func (p *parser) plain(s *Spec, src *read) bool {
	kind := s.traits.Framing
	if src.Text.Value != whole {
		if kind == frame.Raw || kind == frame.Lines {
			p.bad("read.text", src.Text.Line, `must be "." with framing %s, whose frames are plain text`, kind)
		}
		return false
	}
	if kind == frame.NDJSON || kind == frame.JSON { // each frame is a JSON string
		return false
	}
	if src.Reasoning.Kind != 0 || src.Finish != "" || src.PromptTokens != "" || src.CompletionTokens != "" || src.FrameTokens != "" ||
		src.Error.Kind != 0 || src.ErrorMessage.Kind != 0 || src.ErrorCode != "" || src.Skip != nil || src.Done != nil {
		p.bad("read", src.Text.Line, `text: "." says that frames are plain text, so nothing else can be read from them`)
	}
	s.reader.plain = true
	return true
}

// slot returns the place of path's value in what the reader finds; -1 without
// a path.
func (p *parser) slot(r *reader, key, path string, line int) int {
	if path == "" {
		return -1
	}
	return r.finder.add(p.steps(key, path, line))
}

// slots is slot for a path or a list of them.
func (p *parser) slots(r *reader, key string, n *yaml.Node) []int {
	var paths []string
	switch n.Kind {
	case 0:
		return nil
	case yaml.ScalarNode:
		paths = []string{n.Value}
	default:
		if errs := yamlstrict.Decode(n, p.at+"."+key, &paths); len(errs) > 0 {
			p.errs = append(p.errs, errs...)
			return nil
		}
	}
	var slots []int
	for _, path := range paths {
		if path == "" {
			p.bad(key, n.Line, "the path is empty")
		}
		slots = append(slots, p.slot(r, key, path, n.Line))
	}
	return slots
}

func (p *parser) condition(r *reader, key string, src *conditionSource) *condition {
	if src == nil {
		return nil
	}
	if src.Path == "" {
		p.bad(key+".path", 0, "missing")
	}
	if (len(src.Is) == 0) == (len(src.Not) == 0) {
		p.bad(key, 0, "needs either is or not, a list of values")
	}
	c := &condition{slot: p.slot(r, key+".path", src.Path, 0), not: len(src.Not) > 0}
	for _, n := range append(src.Is, src.Not...) {
		value, err := toJSON(nil, &n, 0)
		if err != nil || n.Kind != yaml.ScalarNode {
			p.bad(key, n.Line, "values are single words, numbers, true, false or null")
			continue
		}
		c.values = append(c.values, value)
	}
	return c
}

// failures compiles how errors in frames are told.
func (p *parser) failures(r *reader, src *read) {
	r.message = p.slots(r, "read.error_message", &src.ErrorMessage)
	r.code = p.slot(r, "read.error_code", src.ErrorCode, 0)
	r.statuses = src.ErrorMap
	for code, status := range src.ErrorMap {
		if status < 400 || status > 599 {
			p.bad(yamlstrict.Key("read.error_map", code), 0, "must be an HTTP status from 400 to 599, not %d", status)
		}
	}
	switch src.Error.Kind {
	case 0:
		if src.ErrorMessage.Kind != 0 || src.ErrorCode != "" || src.ErrorMap != nil {
			p.bad("read.error", p.line, "missing: what tells a frame with an error from others")
		}
	case yaml.SequenceNode:
		for i, n := range src.Error.Content {
			p.failure(r, yamlstrict.Index("read.error", i), n)
		}
	default:
		p.failure(r, "read.error", &src.Error)
	}
}

// failure compiles one sign of an error: a path or a condition.
func (p *parser) failure(r *reader, key string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		if n.Value == "" {
			p.bad(key, n.Line, "the path is empty")
		}
		r.failed = append(r.failed, &condition{slot: p.slot(r, key, n.Value, n.Line), not: true, values: nothings})
		return
	}
	var c conditionSource
	errs := yamlstrict.Decode(n, p.at+"."+key, &c)
	if p.errs = append(p.errs, errs...); len(errs) == 0 {
		r.failed = append(r.failed, p.condition(r, key, &c))
	}
}

// nothings are the values that say that there is no error.
var nothings = [][]byte{[]byte("null"), []byte("false"), []byte("0"), []byte(`""`)}
