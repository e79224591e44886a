package grammar

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// expr is an expression of a grammar. Expressions form a graph without cycles;
// only a reference to a rule may lead back.
type expr struct {
	kind kind
	set  byteSet
	list []*expr // of a sequence or a choice; the body of a repetition
	min  int     // of a repetition
	max  int     // likewise; noMax is none
	rule int
}

type kind uint8

const (
	oneByte  kind = iota // one byte of set
	sequence             // all of list, one after the other
	choice               // one of list
	repeat               // list[0], min to max times
	ref                  // a rule
)

const noMax = -1

var empty = &expr{kind: sequence}

func seq(list ...*expr) *expr { return &expr{kind: sequence, list: list} }

func alt(list ...*expr) *expr {
	if len(list) == 1 {
		return list[0]
	}
	return &expr{kind: choice, list: list}
}

func rep(e *expr, low, high int) *expr {
	return &expr{kind: repeat, list: []*expr{e}, min: low, max: high}
}

func opt(e *expr) *expr { return rep(e, 0, 1) }

// lit is the bytes of text.
func lit(text string) *expr {
	e := &expr{kind: sequence}
	for i := range len(text) {
		one := &expr{kind: oneByte}
		one.set.add(text[i], text[i])
		e.list = append(e.list, one)
	}
	return e
}

// byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) add(low, high byte) {
	for c := int(low); c <= int(high); c++ {
		s[c>>6] |= 1 << (c & 63)
	}
}

func (s *byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 == 1 }

// span is a range of characters.
type span struct{ low, high rune }

// class is one character out of spans, in UTF-8.
func class(spans ...span) *expr {
	ascii := &expr{kind: oneByte}
	list := []*expr{}
	for _, s := range spans {
		if s.low < utf8.RuneSelf {
			ascii.set.add(byte(s.low), byte(min(s.high, utf8.RuneSelf-1)))
		}
		list = appendSpan(list, max(s.low, utf8.RuneSelf), min(s.high, utf8.MaxRune))
	}
	if ascii.set != (byteSet{}) {
		list = append([]*expr{ascii}, list...)
	}
	return alt(list...)
}

// between is one byte from low to high.
func between(low, high byte) *expr {
	e := &expr{kind: oneByte}
	e.set.add(low, high)
	return e
}

// appendSpan appends the characters from low to high, beyond ASCII, as sequences
// of byte ranges. A span is cut where the length of the encoding changes, and
// where a byte's range would depend on the byte before it.
func appendSpan(list []*expr, low, high rune) []*expr {
	const surrogates, afterSurrogates = 0xd800, 0xe000
	cut := func(at rune) []*expr { return appendSpan(appendSpan(list, low, at-1), at, high) }
	switch {
	case low > high:
		return list
	case low < surrogates && high >= surrogates:
		return cut(surrogates)
	case low >= surrogates && low < afterSurrogates:
		return appendSpan(list, afterSurrogates, high)
	case low < 0x800 && high >= 0x800:
		return cut(0x800)
	case low < 0x10000 && high >= 0x10000:
		return cut(0x10000)
	}
	for mask := rune(0x3f); mask < high; mask = mask<<6 | 0x3f {
		if low&^mask == high&^mask {
			continue
		}
		if low&mask != 0 {
			return cut(low | mask + 1)
		}
		if high&mask != mask {
			return cut(high &^ mask)
		}
	}
	var from, to [utf8.UTFMax]byte
	n := utf8.EncodeRune(from[:], low)
	utf8.EncodeRune(to[:], high)
	e := &expr{kind: sequence}
	for i := range n {
		e.list = append(e.list, between(from[i], to[i]))
	}
	return append(list, e)
}

// complement returns the characters that are not in spans.
func complement(spans []span) []span {
	spans = slices.SortedFunc(slices.Values(spans), func(a, b span) int { return cmp.Compare(a.low, b.low) })
	var out []span
	at := rune(0)
	for _, s := range spans {
		if s.low > at {
			out = append(out, span{at, s.low - 1})
		}
		at = max(at, s.high+1)
	}
	if at <= utf8.MaxRune {
		out = append(out, span{at, utf8.MaxRune})
	}
	return out
}
