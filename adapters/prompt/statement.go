package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// statement writes one {% %} and the calls of the guards that belong to it.
func (n *normalizer) statement(inner string) error {
	word, rest := firstWord(inner)
	if word == "raw" || strings.ContainsFunc(word, unicode.IsDigit) {
		// The library would take for1 for a for, and so would miss its guards.
		return errorf("unknown statement %q", trimSpace(inner))
	}
	before, after, err := n.injections(word, rest)
	if err != nil {
		return err
	}
	if before != "" {
		n.out.WriteString("{{ " + before + " }}")
	}
	n.out.WriteString("{%+" + inner)
	n.closer = "+%}"
	if after != "" {
		n.closer += "{{ " + after + " }}"
	}
	return nil
}

// injections keeps account of open blocks and returns the expressions to be
// evaluated before and after a statement.
func (n *normalizer) injections(word, rest string) (before, after string, err error) {
	name := guards{}
	if n.guards != nil {
		name = *n.guards
	}
	switch word {
	case "for":
		after = name.tick + "()"
		if strings.Contains(rest, "recursive") {
			after = name.tick + "(loop.depth)"
		}
	case "macro":
		// A default is evaluated before the body, where no guard can stand.
		if brackets(rest) > 1 {
			return "", "", errorf("a macro's default value must not be a call")
		}
		after = name.enter + "()"
	case "call":
		after = name.enter + "()"
	case "endmacro", "endcall":
		before = name.leave + "()"
	case "set":
		target, _, inline := strings.Cut(rest, "=")
		if inline {
			after = name.size + "(" + trimSpace(target) + ")"
		} else {
			word += " " + trimSpace(target)
		}
	case "endset":
		if last := len(n.blocks) - 1; last >= 0 {
			if target, ok := strings.CutPrefix(n.blocks[last], "set "); ok {
				after = name.size + "(" + target + ")"
			}
		}
	}
	if err := n.nest(word); err != nil || n.guards == nil {
		return "", "", err
	}
	return before, after, nil
}

// nest counts open blocks, so that a parser that recurses has an end. Whether
// they close properly is for the library to say.
func (n *normalizer) nest(word string) error {
	switch {
	case strings.HasPrefix(word, "end"):
		if last := len(n.blocks) - 1; last >= 0 {
			n.blocks = n.blocks[:last]
		}
	case strings.HasPrefix(word, "set "), isBlock[word]:
		n.blocks = append(n.blocks, word)
	}
	if len(n.blocks) > maxNesting {
		return errorf("blocks are nested more than %d deep", maxNesting)
	}
	return nil
}

var isBlock = map[string]bool{
	"if": true, "for": true, "macro": true, "call": true, "filter": true,
	"generation": true, "block": true,
}

// brackets counts the opening round brackets outside of strings.
func brackets(s string) int {
	count := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\'', '"':
			i = stringEnd(s, i)
		case '(':
			count++
		}
	}
	return count
}

// checkNames looks for filters and tests that the library lacks. It finds them
// at render time only, and only where it comes by.
func checkNames(inner string, kind byte) error {
	if kind == '#' {
		return nil
	}
	if word, rest := firstWord(inner); kind == '%' && word == "filter" {
		if name, _ := firstWord(rest); !known("{{ 0|%s }}", name) {
			return errorf("unknown filter %q", name)
		}
	}
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '\'' || c == '"':
			i = stringEnd(inner, i)
		case c == '|':
			if name, _ := firstWord(inner[i+1:]); !known("{{ 0|%s }}", name) {
				return errorf("unknown filter %q", name)
			}
		case c < utf8.RuneSelf && isNameRune(rune(c)):
			word, rest := firstWord(inner[i:])
			i += len(word) - 1
			if word != "is" {
				continue
			}
			name, rest := firstWord(rest)
			if name == "not" {
				name, _ = firstWord(rest)
			}
			if !known("{%% if 0 is %s %%}{%% endif %%}", name) {
				return errorf("unknown test %q", name)
			}
		}
	}
	return nil
}

// known asks the library itself, so that there is no list to keep up with it.
func known(format, name string) bool {
	t, err := jinja.Compile(fmt.Sprintf(format, name))
	if err != nil {
		return true // not a name: compiling the template says what it is
	}
	_, err = t.RenderValues(nil)
	return err == nil || !strings.Contains(err.Error(), "unknown ")
}
