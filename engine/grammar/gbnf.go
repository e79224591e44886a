package grammar

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a grammar that comes as text.
const (
	maxText   = 1 << 18 // bytes
	maxRules  = 4096
	maxNested = 64      // groups within groups
	maxCount  = 1 << 20 // repetitions
)

// A SyntaxError says where a text is no grammar.
type SyntaxError struct {
	Line int
	Why  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// Parse reads a grammar in llama.cpp's notation (GBNF): rules NAME ::= ..., of
// which the answer is the one called root. Token references (<...>) are not
// known. The error is a *SyntaxError or a *RuleError, or says that the grammar
// is too large.
func Parse(text string) (*Grammar, error) {
	if len(text) > maxText {
		return nil, errTooLarge
	}
	r := &rules{}
	names := map[string]*expr{"root": r.add("root")}
	if err := parseRules(r, names, text); err != nil {
		return nil, err
	}
	return compile(r)
}

// parseRules adds the rules of a text. names are the rules known by name, some of
// which may still lack their expression; in the end none does.
func parseRules(r *rules, names map[string]*expr, text string) error {
	p := &parser{text: text, rules: r, names: names}
	for p.space(true); p.at < len(p.text); p.space(true) {
		name := p.name()
		if p.space(false); name == "" || !p.take("::=") {
			return p.fail("expected NAME ::=")
		}
		rule := p.rule(name)
		if r.exprs[rule.rule] != nil {
			return p.fail("rule " + name + " is there twice")
		}
		p.space(true)
		e, err := p.alternatives(0)
		if err != nil {
			return err
		}
		if p.at < len(p.text) && p.text[p.at] != '\n' && p.text[p.at] != '\r' {
			return p.fail("expected the end of the line")
		}
		r.exprs[rule.rule] = e
		if len(r.exprs) > maxRules {
			return errTooLarge
		}
	}
	for i, e := range r.exprs {
		if e == nil {
			return &RuleError{Rule: r.names[i], Why: "is missing"}
		}
	}
	return nil
}

type parser struct {
	text  string
	at    int
	rules *rules
	names map[string]*expr
}

func (p *parser) fail(why string) error {
	return &SyntaxError{Line: 1 + strings.Count(p.text[:p.at], "\n"), Why: why}
}

// rule returns the reference to a rule, which may come later.
func (p *parser) rule(name string) *expr {
	e, ok := p.names[name]
	if !ok {
		e = p.rules.add(name)
		p.names[name] = e
	}
	return e
}

// space passes white space and comments; lines says whether line ends are any.
func (p *parser) space(lines bool) {
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == ' ' || c == '\t', lines && (c == '\n' || c == '\r'):
		case c == '#':
			for p.at+1 < len(p.text) && p.text[p.at+1] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

func (p *parser) take(s string) bool {
	if !strings.HasPrefix(p.text[p.at:], s) {
		return false
	}
	p.at += len(s)
	return true
}

func (p *parser) name() string {
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			break
		}
		p.at++
	}
	return p.text[from:p.at]
}

func (p *parser) alternatives(nested int) (*expr, error) {
	var list []*expr
	for {
		one, err := p.sequence(nested)
		if err != nil {
			return nil, err
		}
		if list = append(list, one); !p.take("|") {
			return alt(list...), nil
		}
		p.space(true)
	}
}

func (p *parser) sequence(nested int) (*expr, error) {
	var list []*expr
	for p.at < len(p.text) {
		e, err := p.item(nested)
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		if e, err = p.repeated(e); err != nil {
			return nil, err
		}
		list = append(list, e)
		p.space(nested > 0)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	return seq(list...), nil
}

// item reads one thing; nil is none.
func (p *parser) item(nested int) (*expr, error) {
	switch c := p.text[p.at]; c {
	case '"':
		p.at++
		return p.literal()
	case '[':
		p.at++
		return p.class()
	case '.':
		p.at++
		return class(span{0, utf8.MaxRune}), nil
	case '(':
		if nested == maxNested {
			return nil, errTooLarge
		}
		p.at++
		p.space(true)
		e, err := p.alternatives(nested + 1)
		if err != nil {
			return nil, err
		}
		if !p.take(")") {
			return nil, p.fail("expected )")
		}
		return e, nil
	}
	if name := p.name(); name != "" {
		return p.rule(name), nil
	}
	return nil, nil
}

// repeated reads what says how often e comes.
func (p *parser) repeated(e *expr) (*expr, error) {
	switch {
	case p.take("*"):
		return rep(e, 0, noMax), nil
	case p.take("+"):
		return rep(e, 1, noMax), nil
	case p.take("?"):
		return opt(e), nil
	case !p.take("{"):
		return e, nil
	}
	inside, _, ok := strings.Cut(p.text[p.at:], "}")
	from, to, between := strings.Cut(inside, ",")
	low, err := strconv.ParseUint(strings.TrimSpace(from), 10, 32)
	high := int(low)
	if to = strings.TrimSpace(to); between && to == "" {
		high = noMax
	} else if between && err == nil {
		var n uint64
		n, err = strconv.ParseUint(to, 10, 32)
		high = int(n)
	}
	if !ok || err != nil || low > maxCount || high > maxCount || high != noMax && high < int(low) {
		return nil, p.fail("expected {N}, {N,} or {N,M}, up to " + strconv.Itoa(maxCount))
	}
	p.at += len(inside) + 1
	return rep(e, int(low), high), nil
}

func (p *parser) literal() (*expr, error) {
	var text strings.Builder
	for !p.take(`"`) {
		c, err := p.char()
		if err != nil {
			return nil, err
		}
		text.WriteRune(c)
	}
	return lit(text.String()), nil
}

func (p *parser) class() (*expr, error) {
	negated := p.take("^")
	var spans []span
	for !p.take("]") {
		low, err := p.char()
		if err != nil {
			return nil, err
		}
		high := low
		if p.at+1 < len(p.text) && p.text[p.at] == '-' && p.text[p.at+1] != ']' {
			p.at++
			if high, err = p.char(); err != nil {
				return nil, err
			}
		}
		spans = append(spans, span{low, high})
	}
	if negated {
		spans = complement(spans)
	}
	return class(spans...), nil
}

// char reads a character, which may be escaped.
func (p *parser) char() (rune, error) {
	c, n := utf8.DecodeRuneInString(p.text[p.at:])
	if c == utf8.RuneError && n < 2 || c == '\n' {
		return 0, p.fail("the text or class does not end")
	}
	p.at += n
	if c != '\\' {
		return c, nil
	}
	if p.at == len(p.text) {
		return 0, p.fail("an escape does not end")
	}
	c = rune(p.text[p.at])
	p.at++
	switch digits := map[rune]int{'x': 2, 'u': 4, 'U': 8}[c]; {
	case digits > 0:
		if len(p.text) < p.at+digits {
			return 0, p.fail("an escape does not end")
		}
		code, err := strconv.ParseUint(p.text[p.at:p.at+digits], 16, 32)
		if err != nil || !utf8.ValidRune(rune(code)) || code > utf8.MaxRune {
			return 0, p.fail("an escape is no character")
		}
		p.at += digits
		return rune(code), nil
	case c == 'n':
		return '\n', nil
	case c == 'r':
		return '\r', nil
	case c == 't':
		return '\t', nil
	case strings.ContainsRune(`\"[]`, c):
		return c, nil
	}
	return 0, p.fail("unknown escape")
}
