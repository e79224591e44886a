package frame

import (
	"bytes"
	"io"
)

// nest follows one JSON string, array or object to its end. It counts brackets
// and minds strings, which is all that cutting needs: whether the value is
// valid is the reader's question who wants to understand it.
type nest struct {
	depth    int
	inString bool
	escaped  bool
}

// scan reads on in b and returns the offset behind the value's end, or -1 if
// the end is not in b. quotes looks for the end of a string.
func (n *nest) scan(b []byte, quotes *marks) int {
	for i := 0; i < len(b); i++ {
		if n.escaped {
			n.escaped = false
			continue
		}
		if n.inString {
			j := quotes.index(b[i:])
			if j < 0 {
				return -1
			}
			i += j
			n.escaped, n.inString = b[i] == '\\', b[i] == '\\'
			if !n.inString && n.depth == 0 {
				return i + 1
			}
			continue
		}
		switch b[i] {
		case '"':
			n.inString = true
		case '{', '[':
			n.depth++
		case '}', ']':
			if n.depth--; n.depth <= 0 {
				return i + 1
			}
		}
	}
	return -1
}

// cutShort reports whether data begins like a JSON string, array or object and
// ends before that does.
func cutShort(data []byte) bool {
	if len(data) == 0 || data[0] != '{' && data[0] != '[' && data[0] != '"' {
		return false
	}
	var n nest
	return n.scan(data, &marks{'"', '\\'}) < 0
}

// valueState is where the Reader is in a sequence of JSON values.
type valueState struct {
	mode    valueMode
	nest    nest
	inArray bool // inside the array that encloses all values
}

type valueMode uint8

const (
	between  valueMode = iota
	nested             // in a string, array or object
	word               // in a number, true, false, null, or what looks like one
	freeText           // in a line that is no JSON
)

// cutValue cuts a sequence of JSON values with anything or nothing between
// them. What is no JSON, such as an error in plain words, is cut as a line.
func (r *Reader) cutValue() {
	v := &r.values
	if v.mode == between && !r.nextValue() {
		return
	}
	rest := r.rest()
	if v.mode == nested {
		i := v.nest.scan(rest[r.off:], &r.marks)
		if i < 0 {
			r.off = len(rest)
			return
		}
		r.deliverValue(rest[:r.off+i], r.off+i)
		return
	}
	if v.mode == word {
		for r.off < len(rest) && isWord(rest[r.off]) {
			r.off++
		}
		if r.off == len(rest) {
			return
		}
		if isLiteral(rest[:r.off]) {
			r.deliverValue(rest[:r.off], r.off)
			return
		}
		v.mode = freeText
	}
	i := bytes.IndexAny(rest[r.off:], "\n\x00")
	if i < 0 {
		r.off = len(rest)
		return
	}
	r.deliverValue(trim(rest[:r.off+i]), r.off+i+1)
}

func (r *Reader) deliverValue(data []byte, n int) {
	r.values.mode, r.values.nest = between, nest{}
	r.deliver("", data, n)
}

// nextValue skips what is between values and reports whether one begins.
func (r *Reader) nextValue() bool {
	v := &r.values
	for i, c := range r.rest() {
		switch {
		case isSpace(c) || c == ',' || c == 0 || c == 0x1e: // 0x1e: RFC 7464
		case c == ']':
			v.inArray = false
		case c == '[' && !v.inArray:
			v.inArray = true
		case c == '{' || c == '[' || c == '"':
			r.advance(i)
			v.mode = nested
			return true
		default:
			r.advance(i)
			v.mode = word
			return true
		}
	}
	r.advance(r.end - r.pos)
	return false
}

// lastValue delivers a number, word or line that only the end of the answer
// ends. In a value, or in an array around the values, the end is a cut.
func (r *Reader) lastValue() {
	v := &r.values
	open := v.mode == nested || v.inArray
	if v.mode == word || v.mode == freeText {
		r.deliverValue(trim(r.rest()), r.end-r.pos)
		return
	}
	if open {
		r.fail(io.ErrUnexpectedEOF)
	}
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

func isLiteral(b []byte) bool {
	return len(b) > 0 && (b[0] == '-' || '0' <= b[0] && b[0] <= '9') ||
		string(b) == "true" || string(b) == "false" || string(b) == "null"
}
