package frame

import (
	"bytes"
	"io"
)

// marks finds whichever of two bytes comes first. It looks for the one found
// last, and for the other only before that, so that an answer which uses one of
// them is scanned once, at the speed of bytes.IndexByte.
type marks struct{ first, second byte }

func (m *marks) index(b []byte) int {
	i := bytes.IndexByte(b, m.first)
	before := b
	if i >= 0 {
		before = b[:i]
	}
	j := bytes.IndexByte(before, m.second)
	if j < 0 {
		return i
	}
	m.first, m.second = m.second, m.first
	return j
}

// cutRecord cuts at LF or NUL and skips blank records.
func (r *Reader) cutRecord() {
	for {
		rest := r.rest()
		i := r.marks.index(rest[r.off:])
		if i < 0 {
			r.off = len(rest)
			return
		}
		n := r.off + i + 1
		if data := trim(rest[:n-1]); len(data) > 0 {
			r.deliver("", data, n)
			return
		}
		r.advance(n)
	}
}

// lastRecord delivers an unterminated last record, unless it is JSON without
// its end.
func (r *Reader) lastRecord() {
	data := trim(r.rest())
	switch {
	case len(data) == 0:
		r.advance(r.end - r.pos)
	case cutShort(data):
		r.fail(io.ErrUnexpectedEOF)
	default:
		r.deliver("", data, r.end-r.pos)
	}
}

// cutLine cuts at LF and takes a CR before it away.
func (r *Reader) cutLine() {
	rest := r.rest()
	i := bytes.IndexByte(rest[r.off:], '\n')
	if i < 0 {
		r.off = len(rest)
		return
	}
	n := r.off + i + 1
	r.deliver("", bytes.TrimSuffix(rest[:n-1], []byte{'\r'}), n)
}

// trim removes JSON's white space from both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isSpace(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
