package stream

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

var replacement = []byte("\uFFFD")

// delta finds in texts that each repeat everything so far what is new. Such
// texts do not only grow: a stop string is cut out at the end, a tokenizer tidies
// up earlier spaces, and a rune of which half the bytes have come is a U+FFFD
// that the next text repairs. So what counts is never how long a text is, but
// whether it begins with the one before.
type delta struct {
	base []byte // the text that the next one is expected to extend
	held int    // how many U+FFFD followed base, kept back until they prove true
}

// next returns the new part of text, a part of its bytes, and whether text
// extends the one before. The cost is one comparison with the text before.
func (d *delta) next(text []byte) (fresh []byte, extends bool) {
	whole := len(text)
	for bytes.HasSuffix(text, replacement) {
		text = text[:len(text)-len(replacement)]
	}
	if bytes.HasPrefix(text, d.base) {
		fresh = text[len(d.base):]
		d.base = append(d.base, fresh...)
		d.held = (whole - len(text)) / len(replacement)
		return fresh, true
	}
	d.held = 0
	if bytes.HasPrefix(d.base, text) { // shorter: it may grow again
		return nil, false
	}
	fresh = afterSpaced(text, d.base)
	d.base = append(d.base[:0], text...)
	return fresh, false
}

// afterSpaced returns what follows in text after all of base, if base is found
// at its start once white space is disregarded; else nil. "it '" that became
// "it's" has grown by "s".
func afterSpaced(text, base []byte) []byte {
	for {
		base = bytes.TrimLeftFunc(base, unicode.IsSpace)
		if len(base) == 0 {
			return text
		}
		text = bytes.TrimLeftFunc(text, unicode.IsSpace)
		_, n := utf8.DecodeRune(base)
		if !bytes.HasPrefix(text, base[:n]) {
			return nil
		}
		base, text = base[n:], text[n:]
	}
}

// echo takes the prompt off the front of a text that comes in pieces.
type echo struct {
	prompt string
	seen   int // how much of prompt has come
	done   bool
}

// strip returns text without the part that repeats the prompt. Once text and
// prompt differ it was no echo, and all of it is text: before holds what was
// taken off too early. It reports whether that has just happened.
func (e *echo) strip(text []byte) (before string, rest []byte, differs bool) {
	if e.done || len(text) == 0 {
		return "", text, false
	}
	n := 0
	for left := e.prompt[e.seen:]; n < len(left) && n < len(text) && left[n] == text[n]; {
		n++
	}
	e.seen += n
	switch {
	case e.seen == len(e.prompt):
		e.done = true
	case n < len(text):
		e.done = true
		return e.prompt[:e.seen-n], text, true
	}
	return "", text[n:], false
}
