package prompt

import (
	"strings"
	"unicode"
)

// A tag is one {{ }}, {% %} or {# #} of a template.
type tag struct {
	start, end int    // src[start:end] is all of it, delimiters included
	kind       byte   // '{', '%' or '#'
	inner      string // between the delimiters and their marks
	left       byte   // '-', '+' or 0
	right      byte
}

var closers = map[byte]string{'{': "}}", '%': "%}", '#': "#}"}

// nextTag returns the first tag of src at or after from; start < 0 if there is none.
func nextTag(src string, from int) (tag, error) {
	for i := from; i+1 < len(src); i++ {
		if src[i] != '{' {
			continue
		}
		if closer, ok := closers[src[i+1]]; ok {
			return readTag(src, i, closer)
		}
	}
	return tag{start: -1}, nil
}

func readTag(src string, start int, closer string) (tag, error) {
	t := tag{start: start, kind: src[start+1]}
	from := start + 2
	if from < len(src) && isMark(src[from]) {
		t.left = src[from]
		from++
	}
	end := -1
	if t.kind == '#' {
		if n := strings.Index(src[from:], closer); n >= 0 {
			end = from + n
		}
	} else {
		var err error
		if end, err = tagEnd(src, from, closer); err != nil {
			return t, err
		}
	}
	if end < 0 {
		return t, errorf("the tag is not closed")
	}
	t.end = end + len(closer)
	t.inner = src[from:end]
	switch {
	case t.inner == "":
	case t.kind == '{' && t.inner[len(t.inner)-1] == '+':
		// }} knows no plus mark: it is an operator without an operand.
	case isMark(t.inner[len(t.inner)-1]):
		t.right = t.inner[len(t.inner)-1]
		t.inner = t.inner[:len(t.inner)-1]
	}
	return t, nil
}

// tagEnd finds closer outside of strings and brackets.
func tagEnd(src string, from int, closer string) (int, error) {
	depth := 0
	for i := from; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\'' || c == '"':
			i = stringEnd(src, i)
		case depth == 0 && strings.HasPrefix(src[i:], closer):
			return i, nil
		case c == '(' || c == '[' || c == '{':
			if depth++; depth > maxNesting {
				return 0, errorf("brackets are nested more than %d deep", maxNesting)
			}
		case c == ')' || c == ']' || c == '}':
			depth--
		}
	}
	return -1, nil
}

// stringEnd returns the offset of the quote that closes the string at i, or
// len(s) if none does.
func stringEnd(s string, i int) int {
	quote := s[i]
	for i++; i < len(s) && s[i] != quote; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return min(i, len(s))
}

// findEndRaw returns the first {% endraw %} of src at or after from.
func findEndRaw(src string, from int) (tag, bool) {
	for i := from; ; i++ {
		n := strings.Index(src[i:], "{%")
		if n < 0 {
			return tag{}, false
		}
		i += n
		// Raw text is not lexed, so quotes and brackets mean nothing in it.
		e := strings.Index(src[i+2:], "%}")
		if e < 0 {
			return tag{}, false
		}
		e += i + 2
		t := tag{start: i, end: e + 2, kind: '%', inner: src[i+2 : e]}
		if t.inner != "" && isMark(t.inner[0]) {
			t.left, t.inner = t.inner[0], t.inner[1:]
		}
		if last := len(t.inner) - 1; last >= 0 && isMark(t.inner[last]) {
			t.right, t.inner = t.inner[last], t.inner[:last]
		}
		if trimSpace(t.inner) == "endraw" {
			return t, true
		}
	}
}

func isMark(c byte) bool { return c == '-' || c == '+' }

// isSpace is Python's idea of white space in a str.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

func trimSpace(s string) string { return strings.TrimFunc(s, isSpace) }

// firstWord splits a statement into its keyword and what follows it.
func firstWord(s string) (word, rest string) {
	s = trimSpace(s)
	n := strings.IndexFunc(s, func(r rune) bool { return !isNameRune(r) })
	if n < 0 {
		return s, ""
	}
	return s[:n], trimSpace(s[n:])
}

func isNameRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
