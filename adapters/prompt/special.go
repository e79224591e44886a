package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"dragoman/adapters/llm"
)

// Noncharacters can stand for nothing in anyone's text. One that a conversation
// does not hold marks where the prompt is to be cut.
const (
	firstNoncharacter = '\uFDD0'
	lastNoncharacter  = '\uFDEF'
)

func isNoncharacter(r rune) bool { return r >= firstNoncharacter && r <= lastNoncharacter }

// breaker keeps the texts of control tokens in what a client sent from
// becoming control tokens.
type breaker struct {
	special map[byte][]string // by their first byte
	longest int               // bytes
	used    noncharacters     // by the template
}

type noncharacters [lastNoncharacter - firstNoncharacter + 1]bool

func newBreaker(special []string, source string) *breaker {
	b := &breaker{special: map[byte][]string{}}
	for _, s := range special {
		if s != "" {
			b.special[s[0]] = append(b.special[s[0]], s)
			b.longest = max(b.longest, len(s))
		}
	}
	b.used.add(source)
	return b
}

// add notes the noncharacters in s, also those escaped as in JSON.
func (n *noncharacters) add(s string) {
	if strings.Contains(s, "\xef\xb7") {
		for _, r := range s {
			if isNoncharacter(r) {
				n[r-firstNoncharacter] = true
			}
		}
	}
	for {
		var ok bool
		if _, s, ok = strings.Cut(s, `\u`); !ok {
			return
		}
		if len(s) >= 4 {
			r := rune(0)
			for _, c := range []byte(strings.ToLower(s[:4])) {
				r = r<<4 + rune(max(strings.IndexByte("0123456789abcdef", c), 0))
			}
			if isNoncharacter(r) {
				n[r-firstNoncharacter] = true
			}
		}
	}
}

// marks returns noncharacters that neither the conversation nor the template
// holds: one to break control tokens with, and one for the end of what is to be
// continued. Each is 0 where it is not needed.
func (b *breaker) marks(c *conversation, resume bool) (mark, end rune, err error) {
	if b.longest == 0 && !resume {
		return 0, 0, nil
	}
	used := b.used
	for i := range c.messages {
		m := &c.messages[i]
		for _, s := range []string{m.Role, m.Content, m.Name, m.ToolCallID, reasoningOf(m)} {
			used.add(s)
		}
		for _, call := range m.ToolCalls {
			used.add(call.ID)
			used.add(call.Name)
			used.add(call.Arguments)
		}
	}
	used.add(string(c.tools))
	for _, v := range c.vars {
		used.add(v.name)
		used.add(string(v.value))
	}
	free := func(needed bool) rune {
		i := slices.Index(used[:], false)
		if !needed || i < 0 {
			return 0
		}
		used[i] = true
		return firstNoncharacter + rune(i)
	}
	mark, end = free(b.longest > 0), free(resume)
	if b.longest > 0 && mark == 0 || resume && end == 0 {
		return 0, 0, llm.Invalid("messages", "invalid_value",
			"the messages hold all of the noncharacters U+FDD0 to U+FDEF, which leaves none to protect control tokens with")
	}
	return mark, end, nil
}

// text returns s with mark inside of every text of a control token, and also
// after a beginning of one at the end of s, which the next text could complete.
func (b *breaker) text(s string, mark rune) string {
	if mark == 0 {
		return s
	}
	var cuts []int
	for i := range len(s) {
		for _, special := range b.special[s[i]] {
			if strings.HasPrefix(s[i:], special) {
				_, size := utf8.DecodeRuneInString(special)
				if size == len(special) {
					cuts = append(cuts, i) // see split
				}
				cuts = append(cuts, i+size)
			}
		}
	}
	if end := len(strings.TrimRightFunc(s, isSpace)); b.beginsAtEnd(s[:end]) {
		cuts = append(cuts, end)
	}
	if cuts == nil {
		return s
	}
	slices.Sort(cuts)
	var out strings.Builder
	last := 0
	for _, cut := range slices.Compact(cuts) {
		out.WriteString(s[last:cut])
		out.WriteRune(mark)
		last = cut
	}
	out.WriteString(s[last:])
	return out.String()
}

// beginsAtEnd reports whether s ends with a proper beginning of a control token.
func (b *breaker) beginsAtEnd(s string) bool {
	for i := max(0, len(s)-b.longest+1); i < len(s); i++ {
		for _, special := range b.special[s[i]] {
			if len(special) > len(s)-i && strings.HasPrefix(special, s[i:]) {
				return true
			}
		}
	}
	return false
}

// split cuts a rendered prompt at its marks.
func (b *breaker) split(text string, mark rune) llm.Prompt {
	if mark != 0 { // printed by tojson with ensure_ascii, it is no other thing
		text = strings.ReplaceAll(text, fmt.Sprintf(`\u%04x`, mark), string(mark))
	}
	if mark == 0 || !strings.ContainsRune(text, mark) {
		return llm.Prompt{{Text: text, Special: true}}
	}
	var prompt llm.Prompt
	for piece := range strings.SplitSeq(text, string(mark)) {
		if piece == "" {
			continue
		}
		// A control token of one rune cannot be broken: it stands alone, as text.
		_, size := utf8.DecodeRuneInString(piece)
		plain := size == len(piece) && slices.Contains(b.special[piece[0]], piece)
		prompt = append(prompt, llm.Piece{Text: piece, Special: !plain})
	}
	return prompt
}
