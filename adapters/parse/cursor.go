package parse

import (
	"bytes"
	"strings"
)

// verdict says whether a text is what was looked for. short means that it may
// be, if more of it comes.
type verdict uint8

const (
	no verdict = iota
	short
	yes
)

// match compares the beginning of data with want.
func match(data []byte, want string) verdict {
	switch {
	case want != "" && len(data) > 0 && data[0] != want[0]:
		return no
	case len(data) >= len(want) && string(data[:len(want)]) == want:
		return yes
	case len(data) < len(want) && strings.HasPrefix(want, string(data)):
		return short
	}
	return no
}

// cursor reads data from the beginning. Once something is not as it should be,
// or data ends, v says so and nothing is read any more.
type cursor struct {
	data []byte
	i    int
	v    verdict // yes as long as all is well
}

// newCursor returns a cursor that reads so much of data as may be held back.
func newCursor(data []byte) cursor { return cursor{data: data[:min(len(data), maxHead)], v: yes} }

// result returns c.v, but no where it would take too much to know better.
func (c *cursor) result() verdict {
	if c.v == short && len(c.data) == maxHead {
		return no
	}
	return c.v
}

func (c *cursor) rest() []byte { return c.data[c.i:] }

// literal reads s, which must be there.
func (c *cursor) literal(s string) {
	if c.v != yes {
		return
	}
	if c.v = match(c.rest(), s); c.v == yes {
		c.i += len(s)
	}
}

// maybe reads s if it is there.
func (c *cursor) maybe(s string) bool {
	if c.v != yes {
		return false
	}
	switch match(c.rest(), s) {
	case yes:
		c.i += len(s)
		return true
	case short:
		c.v = short
	}
	return false
}

// space reads white space, of which there may be none.
func (c *cursor) space() {
	if c.v != yes {
		return
	}
	n := spaces(c.rest())
	if c.i += n; n >= maxSpace {
		c.v = no
	}
}

// peek returns the next byte.
func (c *cursor) peek() byte {
	if c.v == yes && c.i == len(c.data) {
		c.v = short
	}
	if c.v != yes {
		return 0
	}
	return c.data[c.i]
}

// until reads what comes before s, and s, which must begin within maxGap bytes.
func (c *cursor) until(s string) []byte {
	if c.v != yes {
		return nil
	}
	rest := c.rest()
	rest = rest[:min(len(rest), maxGap+len(s))]
	n := bytes.Index(rest, []byte(s))
	switch {
	case n >= 0:
		c.i += n + len(s)
		return rest[:n]
	case len(rest) < maxGap+len(s):
		c.v = short
	default:
		c.v = no
	}
	return nil
}

// name reads the name of a tool.
func (c *cursor) name() string {
	if c.v != yes {
		return ""
	}
	rest := c.rest()
	n := 0
	for n < len(rest) && isName(rest[n]) {
		n++
	}
	switch {
	case n > maxGap:
		c.v = no
	case n == len(rest): // it may go on
		c.v = short
	case n == 0:
		c.v = no
	}
	c.i += n
	return string(rest[:n])
}

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.'
}

// quoted reads a JSON string with its quotes.
func (c *cursor) quoted() []byte {
	if c.peek() != '"' && c.v == yes {
		c.v = no
	}
	return c.value()
}

// value reads a JSON value. It sees strings and brackets, and leaves the rest to
// whoever reads it.
func (c *cursor) value() []byte {
	first := c.peek()
	if c.v != yes {
		return nil
	}
	s := scanner{shallow: true}
	rest := c.rest()
	n, done := 0, false
	if strings.IndexByte(`{["`, first) >= 0 {
		n, done = s.scan(rest)
	} else {
		n = bytes.IndexAny(rest, ",;]} \t\r\n<\"{[:")
		done = n >= 0
		if n == 0 {
			c.v = no
			return nil
		}
	}
	if s.depth > maxDepth {
		c.v = no
		return nil
	}
	if !done {
		c.v = short
		return nil
	}
	c.i += n
	return rest[:n]
}

// scanner finds the end of a JSON object, array or string that comes in pieces.
type scanner struct {
	depth     int
	inString  bool
	isEscaped bool
	shallow   bool // give up beyond maxDepth
}

// scan returns how much of data belongs to the value, and whether it ends there.
func (s *scanner) scan(data []byte) (n int, done bool) {
	for i, c := range data {
		switch {
		case s.isEscaped:
			s.isEscaped = false
		case s.inString && c == '\\':
			s.isEscaped = true
		case c == '"':
			s.inString = !s.inString
		case s.inString:
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
		if s.shallow && s.depth > maxDepth {
			return i, false
		}
		if s.depth <= 0 && !s.inString && !s.isEscaped {
			return i + 1, true
		}
	}
	return len(data), false
}
