package parse

import "bytes"

// begin is the mode at the beginning of an answer, after reasoning and after a
// call: only here may reasoning begin, or a call that nothing announces.
func begin(p *Parser, data []byte, end bool) (n int, wait bool) {
	n = spaces(data)
	if n == len(data) && n < maxSpace {
		if !end {
			return 0, true
		}
		if p.calls == 0 {
			p.text(data)
		}
		return n, false
	}
	if n < len(data) && n < maxSpace {
		k, v := p.opens(data[n:], end, true)
		if v == short {
			return 0, true
		}
		if v == yes {
			p.fresh = false
			return n + k, false
		}
	}
	p.fresh = false
	p.mode = content
	return 0, false
}

// content is the mode within the answer's text.
func content(p *Parser, data []byte, end bool) (n int, wait bool) {
	if i := p.plan.find(data); i > 0 {
		p.text(data[:i])
		return i, false
	}
	n, v := p.opens(data, end, false)
	switch v {
	case yes:
		return n, false
	case short:
		return 0, true
	}
	p.text(data[:1]) // markers that are found here begin with an ASCII character
	return 1, false
}

// opens looks for something that begins at the start of data, and goes into its
// mode. boundary says that anything may begin here.
func (p *Parser) opens(data []byte, end, boundary bool) (n int, v verdict) {
	try := func(v verdict) verdict {
		if v == short && end {
			return no
		}
		return v
	}
	if boundary {
		for i := range p.plan.tags {
			t := &p.plan.tags[i]
			if !p.fresh && !t.again {
				continue
			}
			if v := try(match(data, t.open)); v != no {
				p.reason(v, []string{t.end})
				return len(t.open), v
			}
		}
		for _, h := range p.plan.headers {
			if v := try(match(data, h)); v != no {
				p.message = p.message || v == yes
				return len(h), v
			}
		}
	}
	if p.message {
		for _, e := range p.plan.ends {
			if v := try(match(data, e)); v != no {
				if v == yes {
					p.mode = begin
				}
				return len(e), v
			}
		}
	}
	for i := range p.plan.forms {
		f := &p.plan.forms[i]
		if f.start && !boundary || f.open == "" && p.calls > 0 {
			continue
		}
		if n, v := p.head(f, data); try(v) != no {
			return n, v
		}
	}
	return 0, no
}

// reason begins the reasoning if v is yes.
func (p *Parser) reason(v verdict, closers []string) {
	if v == yes {
		p.closers = closers
		p.mode, p.next, p.lines = skipLines, reasoning, 0
	}
}

// opened is the mode at the beginning of an answer whose prompt has opened the
// reasoning. Some models open it once more.
func opened(p *Parser, data []byte, end bool) (n int, wait bool) {
	p.reason(yes, p.plan.closers())
	n = spaces(data)
	for _, t := range p.plan.tags {
		v := match(data[n:], t.open)
		switch {
		case n >= maxSpace:
		case v == yes:
			return n + len(t.open), false
		case v == short && !end:
			p.mode = opened
			return 0, true
		}
	}
	return 0, false
}

// skipLines is the mode after a tag: line feeds there are a part of it.
func skipLines(p *Parser, data []byte, _ bool) (n int, wait bool) {
	for n < len(data) && isLine(data[n]) && p.lines < maxLines {
		n++
		p.lines++
	}
	if n < len(data) {
		p.mode = p.next
	}
	return n, false
}

// reasoning is the mode within reasoning. Line feeds before the tag that ends it
// are a part of that.
func reasoning(p *Parser, data []byte, end bool) (n int, wait bool) {
	for i := range data {
		for _, c := range p.closers {
			v := match(data[i:], c)
			if v == no || v == short && end {
				continue
			}
			p.reasoning(data[:cutLines(data[:i])])
			if v == short {
				return cutLines(data[:i]), true
			}
			p.fresh = false
			p.mode, p.next, p.lines = skipLines, begin, 0
			return i + len(c), false
		}
	}
	n = len(data)
	if !end {
		n = cutLines(data)
	}
	p.reasoning(data[:n])
	return n, !end
}

// cutLines returns the length of b without the line feeds that it ends with.
func cutLines(b []byte) int {
	n := len(b)
	for n > 0 && len(b)-n < maxLines && isLine(b[n-1]) {
		n--
	}
	return n
}

func isLine(c byte) bool { return c == '\n' || c == '\r' }

// spaces returns how much white space data begins with.
func spaces(data []byte) int {
	return len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
}

// find returns where in data a marker begins, whole or cut off by data's end;
// the length of data if nowhere.
func (p *Plan) find(data []byte) int {
	for i, c := range data {
		if !p.first[c] {
			continue
		}
		for _, m := range p.markers {
			if match(data[i:], m) != no {
				return i
			}
		}
	}
	return len(data)
}
