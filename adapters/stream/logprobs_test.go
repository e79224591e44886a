package stream

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/parse"
)

// playTokens runs text, cut into tokens, through a pipeline, and returns the text
// of the answer and the tokens that came with it, set apart by |.
func playTokens(t *testing.T, req *llm.Request, plan *parse.Plan, cuts []string, end llm.Finish) (text, came string) {
	t.Helper()
	p := newPipeline(&adapters.Traits{}, req, plan, func(note) {})
	var list []string
	take := func(events []llm.Event) {
		for _, ev := range events {
			text += string(ev.Text)
			for _, l := range ev.Logprobs {
				list = append(list, string(l.Token))
			}
		}
	}
	for i, cut := range cuts {
		events, err := p.push(nil, &llm.Event{Text: []byte(cut), Logprobs: []llm.Logprob{{Token: []byte(cut), Logprob: float64(-i)}}})
		if err != nil {
			t.Fatal(err)
		}
		take(events)
	}
	if end == "" {
		take(p.flush(nil))
		return text, strings.Join(list, "|")
	}
	events, err := p.push(nil, &llm.Event{Finish: end})
	if err != nil {
		t.Fatal(err)
	}
	take(events)
	return text, strings.Join(list, "|")
}

func TestLogprobsGoWithTheirText(t *testing.T) {
	f := func(stop string, parsed bool, cuts, want string) {
		t.Helper()
		req, plan := offering(t)
		if !parsed {
			plan = nil
		}
		if stop != "" {
			req.Stop = []string{stop}
		}
		if _, got := playTokens(t, req, plan, strings.Split(cuts, "|"), llm.FinishStop); got != want {
			t.Errorf("%s: got %s, want %s", cuts, got, want)
		}
	}
	f("", false, "Hel|lo||!", "Hel|lo|!")
	f("END", false, "a E|N|d|b", "a E|N|d|b")
	f("END", false, "a |E|N|D|b", "a ")
	f("END", false, "a E|ND|b", "") // the first token is not whole without the stop string
	f("END", false, "a|b END c|d", "a")
	f("", false, "a\xff|b|\xe2\x82|c", "a\xff|b|\xe2\x82|c")
	f("", true, "<think>|why|</think>|\n\n|Be|cause", "Be|cause")
	f("", true, "<thi|nk>|why|</thi|nk>Be|cause", "cause") // half of a token is no text of the answer
	f("", true, "a <|b", "a <|b")
	f("", true, `a |<tool_|call>|{"name":"f"}|</tool_call>`, "a ")
	f("", true, `a |<tool_|call>|no call`, "a |<tool_|call>|no call")
	f("END", true, "<think>|a|</think>|b| E|ND|c", "b")
}

// Where every byte is a token, the tokens are the text, whatever was taken out of
// it or kept back.
func TestLogprobsOfBytesAreTheText(t *testing.T) {
	parts := []string{
		"<think>", "</think>", "\n", "a", "é", "🙂", "<tool_call>", `{"name":"f","arguments":{"a":1}}`, "</tool_call>", "END", "EN", "<", " ", "text ",
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 3000 {
		whole := ""
		for range 1 + r.IntN(8) {
			whole += parts[r.IntN(len(parts))]
		}
		req, plan := offering(t)
		if r.IntN(3) == 0 {
			plan = nil
		}
		if r.IntN(2) == 0 {
			req.Stop = []string{"END"}
		}
		end := llm.FinishStop
		if r.IntN(4) == 0 {
			end = ""
		}
		text, came := playTokens(t, req, plan, strings.Split(bytesOf(whole), "|"), end)
		if end == "" && !strings.HasPrefix(text, strings.ReplaceAll(came, "|", "")) || end != "" && strings.ReplaceAll(came, "|", "") != text {
			t.Fatalf("%q (%v, parsed %t, %s): text %q, tokens %q", whole, req.Stop, plan != nil, end, text, came)
		}
	}
}

// bytesOf sets the bytes of s apart by |.
func bytesOf(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "|%s", s[i:i+1])
	}
	return b.String()[1:]
}
