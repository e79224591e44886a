package grammar

import (
	"bytes"
	"math"
)

// Gate lets everything through until one of some texts has come, such as the end
// of a model's reasoning; from there on an answer keeps to a grammar. The answer
// cannot end before. It is not safe for concurrent use.
type Gate struct {
	m     *Matcher
	after [][]byte
	text  func(dst []byte, id int32) []byte
	tail  []byte // of what has come: as much as a text may begin in
	most  int    // bytes of the longest text
	open  bool
	buf   []byte // scratch
}

// NewGate returns the gate before m, which opens after one of the texts; there
// is one at least, and none is empty. text appends what a token says; of control
// tokens that is their spelling.
func NewGate(m *Matcher, after []string, text func(dst []byte, id int32) []byte) *Gate {
	g := &Gate{m: m, text: text}
	for _, s := range after {
		g.after = append(g.after, []byte(s))
		g.most = max(g.most, len(s))
	}
	return g
}

// come returns what has come and a token's text behind it, and where in that the
// grammar begins: behind a text, and the white space that may be a part of the
// same token; -1 is not yet.
func (g *Gate) come(id int32) ([]byte, int) {
	g.buf = g.text(append(g.buf[:0], g.tail...), id)
	begin := -1
	for _, s := range g.after {
		if at := bytes.Index(g.buf, s); at >= 0 && (begin < 0 || at+len(s) < begin) {
			begin = at + len(s)
		}
	}
	for begin >= 0 && begin < len(g.buf) && bytes.IndexByte([]byte(" \t\r\n"), g.buf[begin]) >= 0 {
		begin++
	}
	return g.buf, begin
}

// Allows reports whether the token may come next.
func (g *Gate) Allows(id int32) bool {
	if g.open {
		return g.m.Allows(id)
	}
	if id < 0 || int(id) >= len(g.m.v.end) || g.m.v.end[id] {
		return false
	}
	text, begin := g.come(id)
	return begin < 0 || g.m.read(g.m.at, text[begin:]) != 0
}

// Keep copies to dst the logits of all tokens that may come next, and makes the
// others minus infinity.
func (g *Gate) Keep(dst, logits []float32) {
	if g.open {
		g.m.Keep(dst, logits)
		return
	}
	for i := range dst {
		if dst[i] = logits[i]; !g.Allows(int32(i)) {
			dst[i] = float32(math.Inf(-1))
		}
	}
}

// Accept takes a token as said.
func (g *Gate) Accept(id int32) {
	if g.open {
		g.m.Accept(id)
		return
	}
	text, begin := g.come(id)
	if begin >= 0 {
		g.open = true
		g.m.at = g.m.read(g.m.at, text[begin:])
		return
	}
	g.tail = append(g.tail[:0], text[max(len(text)-g.most+1, 0):]...)
}

// Done reports whether the answer is whole and nothing can come any more.
func (g *Gate) Done() bool { return g.open && g.m.Done() }

// Err returns why nothing may come, if that is not the answer's fault.
func (g *Gate) Err() error { return g.m.Err() }
