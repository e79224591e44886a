package fastchat

import (
	"strconv"
	"strings"
	"unicode"
)

// script is what a style lays out: the system text as the template words it,
// whether there was nothing to word, and the turns, of which the last is open.
type script struct {
	system     string
	bareSystem bool
	turns      []turn
}

// style lays out a conversation. FastChat calls it a separator style.
type style func(c *conv, s script) string

// lay lays out every turn behind start: with filled, the open ones with open.
func (s script) lay(start string, filled func(i int, t turn) string, open func(i int, t turn) string) string {
	var b strings.Builder
	b.WriteString(start)
	for i, t := range s.turns {
		if t.text == "" {
			b.WriteString(open(i, t))
		} else {
			b.WriteString(filled(i, t))
		}
	}
	return b.String()
}

func roleThen(s string) func(int, turn) string {
	return func(_ int, t turn) string { return t.role + s }
}

// layout is a style with the same things at the same places of each turn.
type layout struct {
	start func(c *conv, s script) string // the system text and what follows it
	mark  string                         // between a role and a text
	open  string                         // behind the role of an open turn
	after func(c *conv, i int) string    // behind the text of turn i
}

func (l layout) render(c *conv, s script) string {
	return s.lay(l.start(c, s), func(i int, t turn) string {
		return t.role + l.mark + t.text + l.after(c, i)
	}, roleThen(l.open))
}

// colonTwo is ADD_COLON_TWO, of which CLLM is made, too.
var colonTwo = layout{start: systemSep, mark: ": ", open: ":", after: eitherSep}

// Starts. Some look at the words of the template, some at the message in them.

func system(_ *conv, s script) string     { return s.system }
func systemSep(c *conv, s script) string  { return s.system + c.Sep }
func systemLine(_ *conv, s script) string { return s.system + "\n" }

func systemSepOrNothing(c *conv, s script) string { return s.opening(c.Sep) }

func systemSepLineOrNothing(c *conv, s script) string { return s.opening(c.Sep + "\n") }

func systemIfMessage(_ *conv, s script) string {
	if s.bareSystem {
		return ""
	}
	return s.system
}

func systemSepIfMessage(c *conv, s script) string {
	if s.bareSystem {
		return ""
	}
	return s.system + c.Sep
}

// opening is the system text with sep behind it, or nothing at all.
func (s script) opening(sep string) string {
	if s.system == "" {
		return ""
	}
	return s.system + sep
}

// Ends of turns.

func always(s string) func(*conv, int) string { return func(*conv, int) string { return s } }

func sep(c *conv, _ int) string     { return c.Sep }
func sepLine(c *conv, _ int) string { return c.Sep + "\n" }

func eitherSep(c *conv, i int) string {
	if i%2 == 0 {
		return c.Sep
	}
	return c.Sep2
}

func dollySep(c *conv, i int) string {
	if i%2 == 0 {
		return c.Sep
	}
	return c.Sep2 + "\n\n"
}

// llama2 names turns by their position, not by who speaks; the first one's tag
// belongs to the system text.
func llama2(c *conv, s script) string {
	start := s.system
	if s.bareSystem {
		start = "[INST] "
	}
	return s.lay(start, func(i int, t turn) string {
		if i == 0 {
			return t.text + " "
		}
		return c.Roles[i%2] + " " + t.text + eitherSep(c, i)
	}, func(i int, _ turn) string { return c.Roles[i%2] })
}

func llama3(c *conv, s script) string {
	header := func(t turn) string { return "<|start_header_id|>" + t.role + "<|end_header_id|>\n\n" }
	return s.lay("<|begin_of_text|>"+systemIfMessage(c, s), func(_ int, t turn) string {
		return header(t) + strings.TrimFunc(t.text, isPythonSpace) + "<|eot_id|>"
	}, func(_ int, t turn) string { return header(t) })
}

// isPythonSpace tells what Python's str.strip takes away.
func isPythonSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// chatGLM counts pairs of turns; the second model began to count at one.
func chatGLM(c *conv, s script) string {
	first := 0
	if c.Name == "chatglm2" {
		first = 1
	}
	speaker := func(i int, t turn) string {
		if i%2 != 0 {
			return t.role + "："
		}
		return "[Round " + strconv.Itoa(first+i/2) + "]" + c.Sep + t.role + "："
	}
	return s.lay(s.opening(c.Sep), func(i int, t turn) string { return speaker(i, t) + t.text + c.Sep }, speaker)
}

// chatIntern begins each pair of turns with a token.
func chatIntern(c *conv, s script) string {
	speaker := func(i int, t turn) string {
		if i%2 != 0 {
			return t.role + ":"
		}
		return "<s>" + t.role + ":"
	}
	return s.lay(s.system, func(i int, t turn) string {
		return speaker(i, t) + t.text + eitherSep(c, i) + "\n"
	}, speaker)
}

// rwkv keeps empty lines out of texts, where they would end the turn.
func rwkv(_ *conv, s script) string {
	return s.lay(s.system, func(_ int, t turn) string {
		text := strings.ReplaceAll(t.text, "\r\n", "\n")
		return t.role + ": " + strings.ReplaceAll(text, "\n\n", "\n") + "\n\n"
	}, roleThen(":"))
}

// metaMath has the second separator in front of what the model says.
func metaMath(c *conv, s script) string {
	speaker := func(i int, t turn) string {
		if i%2 != 0 {
			return t.role + ": " + c.Sep2
		}
		return t.role + ":\n"
	}
	return s.lay(s.opening(c.Sep), func(i int, t turn) string {
		if i%2 != 0 {
			return speaker(i, t) + t.text
		}
		return speaker(i, t) + t.text + c.Sep
	}, speaker)
}

// yuan2 names nobody. FastChat takes every <, n and > off the end for the sake
// of the last <n>, those of the last text with it.
func yuan2(c *conv, s script) string {
	start := ""
	if !s.bareSystem {
		start = s.system + c.Sep2
	}
	text := s.lay(start, func(_ int, t turn) string { return t.text + "<n>" }, func(int, turn) string { return "" })
	return strings.TrimRight(text, "<n>") + c.Sep
}

// gemma has no place for a system text.
func gemma(c *conv, s script) string {
	return s.lay("<bos>", func(_ int, t turn) string {
		return "<start_of_turn>" + t.role + "\n" + t.text + c.Sep
	}, func(_ int, t turn) string { return "<start_of_turn>" + t.role + "\n" })
}

// cllm is colonTwo with the last two turns alone: FastChat forgets the rest.
func cllm(c *conv, s script) string {
	s.turns = s.turns[max(0, len(s.turns)-2):]
	return colonTwo.render(c, s)
}
