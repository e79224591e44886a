// Package prompt keeps control tokens apart from text. A prompt is a list of
// pieces; only in special pieces does the text of a special token, such as
// <|im_start|>, stand for that token. In plain pieces, which hold what users
// wrote, it stays text.
//
// The package only finds the special tokens. Turning the text between them
// into tokens is the model's tokenizer's work.
package prompt

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Piece is a part of a prompt.
type Piece struct {
	Text    string
	Special bool // special-token texts in it become those tokens
}

// Special is a token that only a special piece can make.
type Special struct {
	Text string
	ID   int32
	// TrimLeft and TrimRight say that the token swallows the white space before
	// and after it (lstrip and rstrip in tokenizer files).
	TrimLeft, TrimRight bool
}

// Part is either a special token (Text is "") or a run of plain text, which
// the tokenizer must read without parsing special tokens.
type Part struct {
	Text string
	ID   int32
}

// Splitter finds special tokens. It is read-only and safe for concurrent use.
type Splitter struct {
	byFirst [256][]Special // the longest text first
}

// NewSplitter returns a Splitter for a model's special tokens. Those without
// text are left out.
func NewSplitter(specials []Special) *Splitter {
	s := new(Splitter)
	for _, sp := range specials {
		if sp.Text != "" {
			s.byFirst[sp.Text[0]] = append(s.byFirst[sp.Text[0]], sp)
		}
	}
	for _, list := range s.byFirst {
		slices.SortStableFunc(list, func(a, b Special) int { return cmp.Compare(len(b.Text), len(a.Text)) })
	}
	return s
}

// Split cuts a prompt at its special tokens. Text that no token parts is one
// part, even across pieces: tokenizers add a space or merge letters at the
// borders of what they are given, so they must be given no borders that the
// prompt does not have.
func (s *Splitter) Split(pieces []Piece) []Part {
	var (
		parts []Part
		text  strings.Builder
		trim  bool // the last token swallows white space
	)
	write := func(t string) {
		if trim {
			t = strings.TrimLeftFunc(t, unicode.IsSpace)
			trim = t == ""
		}
		text.WriteString(t)
	}
	flush := func(trimRight bool) {
		t := text.String()
		if trimRight {
			t = strings.TrimRightFunc(t, unicode.IsSpace)
		}
		if t != "" {
			parts = append(parts, Part{Text: t})
		}
		text.Reset()
	}
	for _, p := range pieces {
		rest := p.Text
		for p.Special && rest != "" {
			at, sp := s.next(rest)
			if at < 0 {
				break
			}
			write(rest[:at])
			flush(sp.TrimLeft)
			parts = append(parts, Part{ID: sp.ID})
			trim = sp.TrimRight
			rest = rest[at+len(sp.Text):]
		}
		write(rest)
	}
	flush(false)
	return parts
}

// Break cuts text inside every special token's text in it, so that no part
// holds one.
func (s *Splitter) Break(text string) []string {
	var parts []string
	for {
		at, _ := s.next(text)
		if at < 0 {
			return append(parts, text)
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		parts = append(parts, text[:at+size])
		text = text[at+size:]
	}
}

// next returns where the first special token in t begins, and which it is; of
// several at one place the longest. It returns -1 if there is none.
func (s *Splitter) next(t string) (int, Special) {
	for i := range len(t) {
		for _, sp := range s.byFirst[t[i]] {
			if strings.HasPrefix(t[i:], sp.Text) {
				return i, sp
			}
		}
	}
	return -1, Special{}
}
