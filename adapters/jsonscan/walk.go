package jsonscan

import (
	"bytes"
	"iter"
)

// All yields the name (unescaped) and the value of every member of object, in
// order, names that come again included. It is for what a backend says, where
// no check can be got around by saying a thing twice. object must come out of
// data that Valid accepted; anything but an object yields nothing. Neither
// slice is to be kept or changed. Nothing is allocated.
func All(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := skipSpace(object, 0)
		if i == len(object) || object[i] != '{' {
			return
		}
		for i++; ; i++ {
			i = skipSpace(object, i)
			if i >= len(object) || object[i] != '"' {
				return
			}
			end := skipString(object, i)
			name := plainName(object[i:end])
			start := min(skipSpace(object, skipSpace(object, end)+1), len(object))
			i = skipValue(object, start)
			if !yield(name, object[start:i]) {
				return
			}
			i = skipSpace(object, i)
		}
	}
}

// AppendUnquoted appends the text of value, a JSON string out of data that
// Valid accepted, to dst as Unquote would return it. Any other value appends
// nothing.
func AppendUnquoted(dst, value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return dst
	}
	return unescape(dst, value[1:len(value)-1])
}

// Growing unquotes JSON strings of which each usually repeats the one before
// and adds to it, as backends send that repeat the whole answer in each frame:
// only what is new is unescaped. The zero value is ready.
type Growing struct {
	raw  []byte // the last value's inside, up to where text was unescaped from
	text []byte
}

// Text returns what value, a JSON string out of data that Valid accepted, says.
// The result is valid until the next call.
func (g *Growing) Text(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	inner := value[1 : len(value)-1]
	if !bytes.HasPrefix(inner, g.raw) {
		g.raw, g.text = g.raw[:0], g.text[:0]
	}
	added := inner[len(g.raw):]
	g.text = unescape(g.text, added)
	g.raw = append(g.raw, added...)
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
