package declared

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/yamlstrict"
)

// send compiles the call that asks for an answer.
func (p *parser) send(s *Spec, src *send) {
	s.call = p.call("send", src, fieldNames())
	if s.traits.Framing == frame.WS {
		if src.Method != "" {
			p.bad("send.method", 0, "cannot stand beside framing ws: a WebSocket begins with a GET")
		}
		s.call.method = http.MethodGet
	}
	for _, m := range src.Map {
		if _, ok := llm.ParamNamed(m.Key); ok || m.Key == "stop" {
			s.traits.Accepts = append(s.traits.Accepts, m.Key)
		}
	}
	s.traits.Messages = has(src.Map, "messages")
	if s.traits.Messages == has(src.Map, "prompt") {
		p.bad("send.map", p.line, "must have either prompt or messages: the one text that a chat template makes of the conversation, or the conversation itself")
	}
}

// cancel compiles the call that ends an answer.
func (p *parser) cancel(s *Spec, src *send) {
	if src == nil {
		return
	}
	made := p.call("cancel", src, []string{"id", "model"})
	s.cancel = &made
	if src.Path == "" {
		p.bad("cancel.path", 0, "missing")
	}
}

// call compiles a call in the order in which the spec was written, so that the
// same request always makes the same bytes.
func (p *parser) call(at string, src *send, parts []string) call {
	c := call{method: cmp.Or(src.Method, http.MethodPost), path: src.Path, body: &node{}}
	if valid := []string{http.MethodPost, http.MethodPut}; !slices.Contains(valid, c.method) {
		p.bad(at+".method", 0, "unknown method %q%s", src.Method, yamlstrict.Suggest(src.Method, valid))
	}
	if c.path != "" && c.path[0] != '/' {
		p.bad(at+".path", 0, "must begin with /, not be %q", c.path)
	}
	if strings.Count(c.path, "{") != strings.Count(c.path, "{model}")+strings.Count(c.path, "{id}") {
		p.bad(at+".path", 0, "%q: only {model} and {id} can stand in braces", c.path)
	}
	for _, pair := range src.Const {
		key := yamlstrict.Key(at+".const", pair.Key)
		value, err := toJSON(nil, &pair.Value, 0)
		if err != nil {
			p.bad(key, pair.Line, "%v", err)
			continue
		}
		p.place(c.body, key, pair.Key, pair.Line, &node{constant: value}, false)
	}
	for _, pair := range src.Map {
		p.field(c.body, yamlstrict.Key(at+".map", pair.Key), pair, parts)
	}
	return c
}

func has(pairs yamlstrict.Pairs, key string) bool {
	return slices.ContainsFunc(pairs, func(p yamlstrict.Pair) bool { return p.Key == key })
}

// field puts one entry of a map, one of parts of a request, into the body.
func (p *parser) field(body *node, key string, m yamlstrict.Pair, parts []string) {
	if !slices.Contains(parts, m.Key) {
		p.bad(key, m.Line, "unknown part of a request%s", yamlstrict.Suggest(m.Key, parts))
		return
	}
	f := fields[m.Key]
	var src shape
	if m.Value.Kind == yaml.ScalarNode {
		src.To = m.Value.Value
	} else if errs := yamlstrict.Decode(&m.Value, p.at+"."+key, &src); len(errs) > 0 {
		p.errs = append(p.errs, errs...)
		return
	}
	if src.To == "" {
		p.bad(key, m.Line, "needs the path in the body: as a string, or as to:")
		return
	}
	list := f.list && m.Key != "messages"
	switch {
	case (src.Min != nil || src.OmitBelow != nil || src.OmitFrom != nil || src.Max != nil && !list) && !f.number:
		p.bad(key, m.Line, "min, max, omit_below and omit_from are for numbers; max also for stop and stop_token_ids")
	case list && src.Max != nil && (*src.Max < 1 || *src.Max != math.Trunc(*src.Max)):
		p.bad(key, m.Line, "max of a list must be a whole number of 1 or more, not %v", *src.Max)
	case src.Min != nil && src.Max != nil && *src.Min > *src.Max:
		p.bad(key, m.Line, "min %v is more than max %v", *src.Min, *src.Max)
	case src.List && f.list:
		p.bad(key, m.Line, "is a list already: leave list out")
	}
	sh := &shaped{field: f, min: src.Min, max: src.Max, omitBelow: src.OmitBelow, omitFrom: src.OmitFrom, asList: src.List}
	if src.Default.Kind != 0 && src.Default.ShortTag() != "!!null" {
		value, err := toJSON(nil, &src.Default, 0)
		if err != nil {
			p.bad(key+".default", m.Line, "%v", err)
		}
		sh.absent = value
	}
	p.place(body, key, src.To, m.Line, &node{field: sh}, src.JSONString)
}

// place puts leaf at path below root.
func (p *parser) place(root *node, key, path string, line int, leaf *node, asString bool) {
	if path == whole {
		p.bad(key, line, "%q is no place in the body", path)
	}
	steps := p.steps(key, path, line)
	if len(steps) == 0 {
		return
	}
	at := root
	for i, name := range steps[:len(steps)-1] {
		next := at.child(name)
		if next == nil {
			next = &node{name: name, asString: asString && i == 0}
			at.members = append(at.members, next)
		}
		if next.constant != nil || next.field != nil {
			p.bad(key, line, "%q: %s holds a value already and cannot hold members too", path, name)
			return
		}
		// Constants may join an object of either form.
		if i == 0 && leaf.field != nil && next.asString != asString {
			if next.asString = asString; next.holdsFields() {
				p.bad(key, line, "%q: json_string must be the same for all parts of %s", path, name)
			}
		}
		at = next
	}
	leaf.name = steps[len(steps)-1]
	leaf.asString = asString && len(steps) == 1
	if at.child(leaf.name) != nil {
		p.bad(key, line, "%q: something stands there already", path)
		return
	}
	at.members = append(at.members, leaf)
}

func (n *node) holdsFields() bool {
	return n.field != nil || slices.ContainsFunc(n.members, (*node).holdsFields)
}
