package jsonscan

import "bytes"

// Growing reads frames of JSON of which each usually repeats the text of the one
// before and adds to it, as backends send that repeat the whole answer in each
// frame: what is repeated is compared, and neither checked nor unescaped again.
// The zero value is ready.
type Growing struct {
	before []byte // what stands before the text in the last frame, its opening quote included
	raw    []byte // the text's inside, up to where text was unescaped from
	text   []byte
	frame  []byte // what Shorten returned
	short  bool   // frame lacks raw
	buf    []byte
}

// Shorten returns frame without the text that it repeats. The result is valid
// JSON if frame is, and the same but for that text; a result that Valid accepts
// is to be taken apart in place of frame, and its text given to Text. It is
// valid until the next call. Those who leave Shorten out give Text whole values.
func (g *Growing) Shorten(frame []byte) []byte {
	g.frame = frame
	rest, ok := bytes.CutPrefix(frame, g.before)
	if g.short = ok && len(g.raw) > 0 && bytes.HasPrefix(rest, g.raw); g.short {
		g.buf = append(append(g.buf[:0], g.before...), rest[len(g.raw):]...)
		g.frame = g.buf
	}
	return g.frame
}

// Text returns what value, a JSON string out of the frame, says, with what it
// repeats; any other value says nothing. It is called once a frame at most, and
// the result is valid until the next call.
func (g *Growing) Text(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	inner := value[1 : len(value)-1]
	open := 0 // where inner begins
	if g.frame != nil {
		open = cap(g.frame) - cap(inner)
	}
	if !g.short || open != len(g.before) { // inner is the whole text
		if !bytes.HasPrefix(inner, g.raw) {
			g.raw, g.text = g.raw[:0], g.text[:0]
		}
		inner = inner[len(g.raw):]
		g.before = append(g.before[:0], g.frame[:open]...)
	}
	g.text = unescape(g.text, inner)
	g.raw = append(g.raw, inner...)
	if endsInHalfPair(g.raw) {
		// The next value may hold the other half: begin anew then.
		text := g.text
		g.raw, g.text = g.raw[:0], nil
		return text
	}
	return g.text
}

// endsInHalfPair reports whether raw may end in the escaped first half of a
// surrogate pair, \ud800 to \udbff.
func endsInHalfPair(raw []byte) bool {
	n := len(raw)
	if n < 6 || raw[n-6] != '\\' || raw[n-5] != 'u' {
		return false
	}
	r, ok := hex4(raw[n-4:])
	return ok && 0xd800 <= r && r < 0xdc00
}
