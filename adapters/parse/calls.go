package parse

import (
	"bytes"
	"strings"

	"dragoman/adapters/jsonscan"
)

// openCall is where the machine is within a call, or between two.
type openCall struct {
	form     *form
	inList   bool // of objects
	inObject bool // that the arguments are a member of
	scanner       // of the arguments

	// Of arguments between tags.
	schema  schema
	any     bool   // an argument has come
	text    bool   // the argument is a string, passed on as it comes
	started bool   // some of that has come
	value   []byte // what has come of another
}

// head is the beginning of a call up to its arguments, or all of it.
type head struct {
	name     string
	args     []byte // complete; nil if they follow
	inList   bool
	inObject bool
}

var empty = []byte("{}")

// head reads the beginning of a call, and goes into the mode for what follows.
func (p *Parser) head(f *form, data []byte) (n int, v verdict) {
	c := newCursor(data)
	if f.section != "" && c.maybe(f.section) {
		c.space()
	}
	c.literal(f.open)
	c.space()
	h := head{}
	switch f.body {
	case objects:
		if h.inList = c.maybe("["); h.inList {
			c.space()
		}
		p.object(&c, f, &h)
	case named:
		h.name = c.name()
		namedArguments(&c, f, &h)
	case tagged:
		h.name = c.name()
		c.space()
		markupFollows(&c, f.tags)
	}
	if v = c.result(); v == yes {
		p.open = openCall{form: f, inList: h.inList, inObject: h.inObject}
		p.start(&h)
	}
	return c.i, v
}

// start tells of a call and goes into the mode for what follows.
func (p *Parser) start(h *head) {
	p.call(h.name)
	switch {
	case p.open.form.body == tagged:
		p.open.schema = p.plan.tools[h.name]
		p.arguments(empty[:1])
		p.broken, p.mode = true, keys
	case h.args == nil:
		p.broken, p.mode = true, arguments
	default:
		p.arguments(h.args)
		p.mode = tail
	}
}

// object reads {"name": ..., "arguments": up to the arguments if the name
// comes first, else all of it.
func (p *Parser) object(c *cursor, f *form, h *head) {
	c.literal("{")
	c.space()
	for more := !c.maybe("}"); more && c.v == yes; c.space() {
		if p.member(c, f, h); h.inObject {
			return
		}
		c.space()
		if more = c.maybe(","); !more {
			c.literal("}")
			break
		}
	}
	if h.name == "" && c.v == yes {
		c.v = no
	}
	if h.args == nil {
		h.args = empty
	}
}

// member reads a member of such an object.
func (p *Parser) member(c *cursor, f *form, h *head) {
	key := string(c.quoted())
	c.space()
	c.literal(":")
	c.space()
	switch key {
	case `"name"`:
		h.name, _ = jsonscan.Unquote(c.quoted())
		if c.v == yes && !p.mayCall(f, h.name) {
			c.v = no
		}
	case `"arguments"`, `"parameters"`:
		if c.peek() == '{' && h.name != "" {
			h.inObject = true
			return
		}
		h.args = argumentsOf(c)
	case `"type"`, `"id"`:
		c.value()
	default:
		if f.open == "" && c.v == yes {
			c.v = no
		}
		c.value()
	}
}

// mayCall reports whether a call of name is one. What nothing announces must
// name a tool that there is.
func (p *Parser) mayCall(f *form, name string) bool {
	_, offered := p.plan.tools[name]
	return name != "" && (offered || f.open != "")
}

// argumentsOf reads arguments that are an object, null, or JSON text.
func argumentsOf(c *cursor) []byte {
	value := c.value()
	if c.v != yes {
		return nil
	}
	switch value[0] {
	case '{':
		return bytes.Clone(value)
	case '"':
		text, _ := jsonscan.Unquote(value)
		if text = strings.TrimSpace(text); text == "" {
			return empty
		}
		if text[0] == '{' {
			return []byte(text)
		}
	case 'n':
		return empty
	}
	c.v = no
	return nil
}

// namedArguments reads what comes between a name and the arguments.
func namedArguments(c *cursor, f *form, h *head) {
	if f.until != "" && c.v == yes {
		from := c.rest()
		gap := c.until(f.until)
		if c.v == short {
			gap = from
		}
		if bytes.IndexByte(gap, '{') >= 0 {
			c.v = no
		}
	}
	c.space()
	if c.peek() == '{' || c.v != yes {
		return
	}
	c.v = no
	if len(f.ends) > 0 {
		c.v = match(c.rest(), f.ends[0])
	}
	h.args = empty
}

// arguments is the mode within arguments that are a JSON object.
func arguments(p *Parser, data []byte, _ bool) (n int, wait bool) {
	n, done := p.open.scan(data)
	p.arguments(data[:n])
	if done {
		p.broken, p.mode = false, tail
	}
	return n, false
}

// tail is the mode after the arguments of a call, up to where the text goes on
// or another call begins. What should be there and is not may be missing.
func tail(p *Parser, data []byte, end bool) (n int, wait bool) {
	c := newCursor(data)
	if p.open.inObject {
		restOfObject(&c)
		v := c.result()
		p.open.inObject = v == short && !end
		if v == yes {
			n = c.i
		}
		return n, p.open.inObject
	}
	if p.open.form.body == objects {
		n, v := p.anotherObject(data)
		if v == yes {
			return n, false
		}
		if v == short && !end {
			return 0, true
		}
		if p.open.inList {
			c.space()
			if c.maybe("]") {
				p.open.inList = false
				return c.i, false
			}
		}
	}
	return p.endOfCall(data, end)
}

// restOfObject reads the members of an object that come after the arguments.
func restOfObject(c *cursor) {
	c.space()
	for c.maybe(",") {
		c.space()
		c.quoted()
		c.space()
		c.literal(":")
		c.space()
		c.value()
		c.space()
	}
	c.literal("}")
}

// anotherObject reads the beginning of the next call of a list, or of a row.
func (p *Parser) anotherObject(data []byte) (n int, v verdict) {
	c := newCursor(data)
	c.space()
	if c.maybe(",") || c.maybe(";") {
		c.space()
	}
	h := head{}
	p.object(&c, p.open.form, &h)
	if v = c.result(); v == yes {
		p.open.inObject, p.open.scanner = h.inObject, scanner{}
		p.start(&h)
	}
	return c.i, v
}

// endOfCall reads what may come after a call.
func (p *Parser) endOfCall(data []byte, end bool) (n int, wait bool) {
	c := newCursor(data)
	for _, s := range p.open.form.ends {
		ahead := c
		ahead.space()
		if ahead.maybe(s) {
			c = ahead
		} else if ahead.result() == short && !end {
			return 0, true
		}
	}
	p.mode = begin
	return c.i, false
}
