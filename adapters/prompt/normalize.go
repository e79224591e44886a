package prompt

import (
	"fmt"
	"strings"
)

const (
	maxSource  = 64 << 10 // the largest of some hundred public templates has 25 KiB
	maxNesting = 200      // of blocks, and of brackets in one tag
)

// lineError says where in a template something is wrong.
type lineError struct {
	line int // from 1; 0 is unknown
	msg  string
}

func (e *lineError) Error() string {
	if e.line == 0 {
		return e.msg
	}
	return fmt.Sprintf("line %d: %s", e.line, e.msg)
}

func errorf(format string, args ...any) *lineError {
	return &lineError{msg: fmt.Sprintf(format, args...)}
}

// normalize rewrites a template so that it leaves no whitespace rule for the
// library to apply: it follows jinja2's lexer with trim_blocks and
// lstrip_blocks, writes every statement with plus marks, drops comments and
// quotes text that looks like a tag. Lines keep their numbers: newlines that
// fall away are put into the tag before. With guards, calls of them are
// written into loops, macros and assignments.
func normalize(src string, g *guards) (string, error) {
	if len(src) > maxSource {
		return "", errorf("the template is larger than %d KiB", maxSource>>10)
	}
	src = strings.ReplaceAll(src, "\r\n", "\n")
	src = strings.ReplaceAll(src, "\r", "\n")
	n := &normalizer{src: strings.TrimSuffix(src, "\n"), lineStart: true, guards: g}
	n.out.Grow(len(src) + len(src)/4)
	if err := n.run(); err != nil {
		return "", err
	}
	return n.out.String(), nil
}

type normalizer struct {
	src       string
	pos       int  // src before it is done
	lineStart bool // what was consumed last ended in a newline
	guards    *guards
	blocks    []string // open blocks: their keywords, and "set NAME"

	out    strings.Builder
	closer string          // of the last tag, not yet written
	pad    int             // newlines that fell away since
	text   strings.Builder // text since, not yet written
}

func (n *normalizer) run() error {
	for {
		t, err := nextTag(n.src, n.pos)
		if err == nil && t.start >= 0 {
			n.text.WriteString(n.trimLeft(n.src[n.pos:t.start], t.left, t.kind != '{'))
			err = n.tag(t)
		}
		if err != nil {
			return n.at(err, t.start)
		}
		if t.start < 0 {
			n.text.WriteString(n.src[n.pos:])
			n.flush()
			return nil
		}
		n.lineStart = n.src[n.pos-1] == '\n'
	}
}

func (n *normalizer) at(err error, offset int) error {
	if e, ok := err.(*lineError); ok && e.line == 0 && offset >= 0 {
		e.line = 1 + strings.Count(n.src[:offset], "\n")
	}
	return err
}

func (n *normalizer) tag(t tag) error {
	if n.guards != nil && t.kind != '#' {
		t.inner = rewriteFormat(t.inner, n.guards.format)
	}
	if err := checkNames(t.inner, t.kind); err != nil {
		return err
	}
	switch {
	case t.kind == '#':
		n.pad += strings.Count(t.inner, "\n")
	case t.kind == '{':
		n.flush()
		n.out.WriteString("{{ " + t.inner)
		n.closer = " }}"
	case trimSpace(t.inner) == "raw":
		return n.raw(t)
	default:
		n.flush()
		if err := n.statement(t.inner); err != nil {
			return err
		}
	}
	n.skipRight(t, t.kind != '{')
	return nil
}

func (n *normalizer) raw(t tag) error {
	start := t.end
	if t.right == '-' {
		start = len(n.src) - len(strings.TrimLeftFunc(n.src[start:], isSpace))
		n.pad += strings.Count(n.src[t.end:start], "\n")
	}
	end, ok := findEndRaw(n.src, start)
	if !ok {
		return errorf("the raw block is not closed")
	}
	n.lineStart = n.src[start-1] == '\n'
	n.text.WriteString(n.trimLeft(n.src[start:end.start], end.left, true))
	n.pad += strings.Count(t.inner, "\n") + strings.Count(end.inner, "\n")
	n.skipRight(end, true)
	return nil
}

// trimLeft returns the text before a tag as the tag's left mark leaves it.
func (n *normalizer) trimLeft(text string, mark byte, block bool) string {
	kept := text
	switch {
	case mark == '-':
		kept = strings.TrimRightFunc(text, isSpace)
	case mark == '+' || !block:
	default:
		line := strings.LastIndexByte(text, '\n') + 1
		if (line > 0 || n.lineStart) && trimSpace(text[line:]) == "" {
			kept = text[:line]
		}
	}
	n.pad += strings.Count(text[len(kept):], "\n")
	return kept
}

// skipRight moves behind a tag and the whitespace that its right mark removes.
func (n *normalizer) skipRight(t tag, block bool) {
	n.pos = t.end
	switch {
	case t.right == '-':
		n.pos = len(n.src) - len(strings.TrimLeftFunc(n.src[t.end:], isSpace))
	case t.right == '+' || !block:
	case strings.HasPrefix(n.src[t.end:], "\n"):
		n.pos++
	}
	n.pad += strings.Count(n.src[t.end:n.pos], "\n")
}

// flush writes what stands before a new tag: the end of the last one with the
// newlines that fell away, then the text between.
func (n *normalizer) flush() {
	switch newlines := strings.Repeat("\n", n.pad); {
	case n.closer != "":
		n.out.WriteString(newlines + n.closer)
	case n.pad > 0:
		n.out.WriteString("{{''" + newlines + "}}")
	}
	text := n.text.String()
	n.closer, n.pad = "", 0
	n.text.Reset()
	if looksLikeTag(text) {
		text = `{{ "` + quoter.Replace(text) + `" }}`
	}
	n.out.WriteString(text)
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func looksLikeTag(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%") ||
		strings.Contains(text, "{#") || strings.HasSuffix(text, "{")
}
