package parse

import (
	"bytes"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
)

// schema says which arguments of a tool are strings and which are not. Others
// are what they look like.
type schema map[string]bool

// markupFollows reads what comes between a name and the first argument.
func markupFollows(c *cursor, m *markup) {
	if m.afterName != "" {
		c.until(m.afterName)
	}
	c.space()
	ahead := *c
	ahead.literal(m.key)
	if ahead.v == no {
		ahead = *c
		ahead.literal(m.callEnd)
	}
	c.v = ahead.v
}

// keys is the mode between arguments.
func keys(p *Parser, data []byte, end bool) (n int, wait bool) {
	m := p.open.form.tags
	c := newCursor(data)
	c.space()
	last := c
	if last.literal(m.callEnd); last.v == yes {
		p.endMarkup(tail)
		return last.i, false
	}
	c.literal(m.key)
	key := bytes.TrimSpace(c.until(m.keyEnd))
	isText := p.open.schema[string(key)]
	switch {
	case m.text != "":
		isText = string(c.until(m.value)) == m.text
	case m.value != "":
		c.space()
		c.literal(m.value)
	}
	switch {
	case c.v == yes:
		p.argument(string(key), isText)
		return c.i, false
	case c.v == no && last.v == no: // not what it should be: the call ends here
		p.endMarkup(content)
	case end:
		p.mode = content
	}
	return 0, !end && (c.v == short || last.v == short)
}

// endMarkup ends a call.
func (p *Parser) endMarkup(next mode) {
	p.arguments(empty[1:])
	p.broken, p.mode = false, next
}

// argument begins the argument key.
func (p *Parser) argument(key string, isText bool) {
	p.open.text, p.open.started, p.open.value = isText, false, nil
	var b []byte
	if p.open.any {
		b = append(b, ", "...)
	}
	b = append(adapters.AppendString(b, key), ": "...)
	if p.open.text {
		b = append(b, '"')
	}
	p.arguments(b)
	p.open.any, p.mode = true, values
}

// values is the mode within an argument.
func values(p *Parser, data []byte, end bool) (n int, wait bool) {
	m := p.open.form.tags
	if m.wrapped && !p.open.started {
		p.open.started = true
		if data[0] == '\n' {
			return 1, false
		}
	}
	p.open.started = true
	for i := range data {
		v := match(data[i:], m.end)
		if v == no || v == short && end {
			continue
		}
		cut := i
		if m.wrapped && i > 0 && data[i-1] == '\n' {
			cut--
		}
		p.piece(data[:cut])
		if v == short {
			return cut, true
		}
		p.endArgument()
		p.mode = keys
		return i + len(m.end), false
	}
	n = len(data)
	if m.wrapped && !end && data[n-1] == '\n' {
		n--
	}
	p.piece(data[:n])
	return n, !end
}

// piece takes a part of an argument.
func (p *Parser) piece(b []byte) {
	if !p.open.text {
		if p.open.value = append(p.open.value, b...); len(p.open.value) <= maxValue {
			return
		}
		p.arguments([]byte{'"'})
		p.open.text, b, p.open.value = true, p.open.value, nil
	}
	if len(b) > 0 {
		quoted := adapters.AppendString(nil, string(b))
		p.arguments(quoted[1 : len(quoted)-1])
	}
}

// endArgument ends an argument. What is not said to be a string is one only if
// it is no JSON.
func (p *Parser) endArgument() {
	if p.open.text {
		p.arguments([]byte{'"'})
		return
	}
	value := bytes.TrimSpace(p.open.value)
	if jsonscan.Valid(value, maxDepth) != nil {
		value = adapters.AppendString(nil, string(p.open.value))
	}
	p.arguments(value)
	p.open.value = nil
}

// endValue passes on what has come of an argument when the text ends in it.
func (p *Parser) endValue() {
	if b := p.open.value; len(b) > 0 {
		quoted := adapters.AppendString(nil, string(b))
		p.arguments(quoted[:len(quoted)-1])
	}
}
