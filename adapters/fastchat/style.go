package fastchat

import (
	"slices"
	"strings"
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

// chatml are the templates that have FastChat's CHATML style by name. Styles
// are sent as numbers, and the one that came with Llama 3 (2024-04-23) moved
// all behind it by one.
var chatml = []string{
	"Nous-Hermes-2-Mixtral-8x7B-DPO", "OpenHermes-2.5-Mistral-7B", "TinyLlama", "Yi-34b-chat", "catppt",
	"dolphin-2.2.1-mistral-7b", "lemur-70b-chat", "llava-chatml", "mistral-7b-openorca", "mpt-30b-chat",
	"mpt-7b-chat", "orca-2", "qwen-7b-chat", "starchat", "zephyr",
}

// style returns how c is laid out, nil if that is not known here, and whether
// there is a place for a system text. The numbers are those of
// fastchat/conversation.py since July 2023.
func (c *conv) style() (render style, placesSystem bool) {
	placesSystem = strings.Contains(c.SystemTemplate, systemPlace)
	switch n := c.SepStyle; {
	case n >= 1 && n <= 7:
		return [...]style{
			1: colonSingle, 2: colonTwo, 3: colonSpaceSingle, 4: noColonSingle, 5: noColonTwo, 6: newLineSingle, 7: llama2,
		}[n], placesSystem
	case n == 8 && !strings.HasPrefix(c.Name, "chatglm"): // CHATGLM before Llama 3
		return llama3, placesSystem
	case n == 9 && slices.Contains(chatml, c.Name), // CHATGLM since Llama 3
		n == 10 && c.Name != "internlm-chat": // CHATINTERN before
		return chatML, placesSystem
	case n == 21 && c.Name != "cllm", n == 20 && c.Name == "gemma": // CLLM before; YUAN2 since
		return gemma, false
	}
	return nil, false
}

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

// after returns what follows turn i in styles with two separators.
func (c *conv) after(i int) string {
	if i%2 == 0 {
		return c.Sep
	}
	return c.Sep2
}

func roleThen(s string) func(int, turn) string {
	return func(_ int, t turn) string { return t.role + s }
}

func colonSingle(c *conv, s script) string {
	return s.lay(s.system+c.Sep, func(_ int, t turn) string { return t.role + ": " + t.text + c.Sep }, roleThen(":"))
}

func colonTwo(c *conv, s script) string {
	return s.lay(s.system+c.Sep, func(i int, t turn) string { return t.role + ": " + t.text + c.after(i) }, roleThen(":"))
}

func colonSpaceSingle(c *conv, s script) string {
	return s.lay(s.system+c.Sep, func(_ int, t turn) string { return t.role + ": " + t.text + c.Sep }, roleThen(": "))
}

func noColonSingle(c *conv, s script) string {
	return s.lay(s.system, func(_ int, t turn) string { return t.role + t.text + c.Sep }, roleThen(""))
}

func noColonTwo(c *conv, s script) string {
	return s.lay(s.system, func(i int, t turn) string { return t.role + t.text + c.after(i) }, roleThen(""))
}

func newLineSingle(c *conv, s script) string {
	return s.lay(s.opening(c.Sep), func(_ int, t turn) string { return t.role + "\n" + t.text + c.Sep }, roleThen("\n"))
}

func chatML(c *conv, s script) string {
	return s.lay(s.opening(c.Sep+"\n"), func(_ int, t turn) string { return t.role + "\n" + t.text + c.Sep + "\n" }, roleThen("\n"))
}

// opening is the system text with sep behind it, or nothing at all.
func (s script) opening(sep string) string {
	if s.system == "" {
		return ""
	}
	return s.system + sep
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
		return c.Roles[i%2] + " " + t.text + c.after(i)
	}, func(i int, _ turn) string { return c.Roles[i%2] })
}

func llama3(_ *conv, s script) string {
	start := "<|begin_of_text|>"
	if !s.bareSystem {
		start += s.system
	}
	header := func(t turn) string { return "<|start_header_id|>" + t.role + "<|end_header_id|>\n\n" }
	return s.lay(start, func(_ int, t turn) string {
		return header(t) + strings.TrimSpace(t.text) + "<|eot_id|>"
	}, func(_ int, t turn) string { return header(t) })
}

// gemma has no place for a system text.
func gemma(c *conv, s script) string {
	return s.lay("<bos>", func(_ int, t turn) string {
		return "<start_of_turn>" + t.role + "\n" + t.text + c.Sep
	}, func(_ int, t turn) string { return "<start_of_turn>" + t.role + "\n" })
}
