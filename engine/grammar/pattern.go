package grammar

import (
	"fmt"
	"regexp/syntax"
	"unicode"
	"unicode/utf8"
)

// Bounds of regular expressions.
const (
	maxPattern  = 1000   // bytes of one
	maxPatterns = 50_000 // parts of all in a schema, and ranges of characters: \p{L} has hundreds
)

// pattern is the inside of JSON strings in which the regular expression v
// matches. Of ECMA's expressions it knows what RE2 shares with them.
func (s *schema) pattern(path string, v *value) (*expr, error) {
	if v.kind != '"' || len(v.text) > maxPattern {
		return nil, bad(path, "it is a regular expression of at most %d bytes", maxPattern)
	}
	re, err := syntax.Parse(v.text, syntax.Perl)
	if err != nil {
		return nil, bad(path, "it cannot be enforced: %v", err)
	}
	p := &pattern{any: rep(s.rule("char"), 0, noMax), size: &s.patterns}
	e, err := p.convert(re, true, true)
	if err == errTooLarge {
		return nil, err
	}
	if err != nil {
		return nil, bad(path, "it cannot be enforced: %v", err)
	}
	return e, nil
}

// pattern is a regular expression on its way to become an expression.
type pattern struct {
	any  *expr // any text
	size *int  // of all of the schema's so far
}

// convert is what re matches. first and last say that it stands at the
// beginning and at the end of the whole: there any text may surround it, unless
// it is anchored. An anchor anywhere else is an error.
func (p *pattern) convert(re *syntax.Regexp, first, last bool) (*expr, error) {
	if *p.size += 1 + len(re.Rune); *p.size > maxPatterns {
		return nil, errTooLarge
	}
	switch re.Op {
	case syntax.OpCapture:
		return p.convert(re.Sub[0], first, last)
	case syntax.OpAlternate:
		var list []*expr
		for _, sub := range re.Sub {
			e, err := p.convert(sub, first, last)
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		return alt(list...), nil
	case syntax.OpConcat:
		return p.concat(re.Sub, first, last)
	case syntax.OpBeginText:
		if first {
			return p.within(empty, false, last), nil
		}
	case syntax.OpEndText:
		if last {
			return p.within(empty, first, false), nil
		}
	default:
		e, err := p.plain(re)
		if err != nil {
			return nil, err
		}
		return p.within(e, first, last), nil
	}
	return nil, fmt.Errorf("%s is not at an end of the whole", re)
}

// concat is one thing behind the other. Anchors at the ends are taken off here.
func (p *pattern) concat(list []*syntax.Regexp, first, last bool) (*expr, error) {
	if first && list[0].Op == syntax.OpBeginText {
		list, first = list[1:], false
	}
	if n := len(list); last && n > 0 && list[n-1].Op == syntax.OpEndText {
		list, last = list[:n-1], false
	}
	if len(list) == 0 {
		return p.within(empty, first, last), nil
	}
	var all []*expr
	for i, sub := range list {
		e, err := p.convert(sub, first && i == 0, last && i == len(list)-1)
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return seq(all...), nil
}

// within is e with any text before and after it.
func (p *pattern) within(e *expr, before, after bool) *expr {
	if before {
		e = seq(p.any, e)
	}
	if after {
		e = seq(e, p.any)
	}
	return e
}

// plain is what matches inside of a text.
func (p *pattern) plain(re *syntax.Regexp) (*expr, error) {
	low, high := 0, noMax
	switch re.Op {
	case syntax.OpEmptyMatch:
		return empty, nil
	case syntax.OpLiteral:
		e := &expr{kind: sequence}
		for _, r := range re.Rune {
			spans := []span{{r, r}}
			if re.Flags&syntax.FoldCase != 0 {
				for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
					spans = append(spans, span{f, f})
				}
			}
			e.list = append(e.list, inString(spans))
		}
		return e, nil
	case syntax.OpCharClass:
		var spans []span
		for i := 0; i < len(re.Rune); i += 2 {
			spans = append(spans, span{re.Rune[i], re.Rune[i+1]})
		}
		return inString(spans), nil
	case syntax.OpAnyChar:
		return inString([]span{{0, utf8.MaxRune}}), nil
	case syntax.OpAnyCharNotNL: // ECMA has more line ends than RE2
		return inString([]span{{0, '\n' - 1}, {'\n' + 1, '\r' - 1}, {'\r' + 1, 0x2027}, {0x202a, utf8.MaxRune}}), nil
	case syntax.OpStar:
	case syntax.OpPlus:
		low = 1
	case syntax.OpQuest:
		high = 1
	case syntax.OpRepeat:
		low, high = re.Min, re.Max
	default:
		return nil, fmt.Errorf("%s is not known", re)
	}
	e, err := p.convert(re.Sub[0], false, false)
	if err != nil {
		return nil, err
	}
	return rep(e, low, high), nil
}

// inString is one character out of spans as JSON strings spell it: what must be
// escaped has one form.
func inString(spans []span) *expr {
	var plain []span
	var list []*expr
	for _, s := range spans {
		for c := s.low; c <= s.high && c <= '\\'; c++ {
			if c < ' ' || c == '"' || c == '\\' {
				quoted := appendQuoted(nil, string(c))
				list = append(list, lit(string(quoted[1:len(quoted)-1])))
				if c > s.low {
					plain = append(plain, span{s.low, c - 1})
				}
				s.low = c + 1
			}
		}
		if s.low <= s.high {
			plain = append(plain, s)
		}
	}
	if len(plain) > 0 {
		list = append(list, class(plain...))
	}
	return alt(list...)
}
