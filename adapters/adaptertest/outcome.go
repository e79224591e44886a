package adaptertest

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// outcome is what came of one answer, in words.
type outcome struct {
	lines    []line
	texts    map[int]string // by choice
	finishes map[int]int
	usage    llm.Usage
	err      error
}

type line struct {
	choice int
	what   string // text, reasoning, logprob, tool, extra, finish
	value  string
}

func (o *outcome) add(ev *llm.Event) {
	if o.texts == nil {
		o.texts, o.finishes = map[int]string{}, map[int]int{}
	}
	put := func(what, value string) { o.lines = append(o.lines, line{ev.Choice, what, value}) }
	if len(ev.Reasoning) > 0 {
		put("reasoning", string(ev.Reasoning))
	}
	if len(ev.Text) > 0 {
		put("text", string(ev.Text))
		o.texts[ev.Choice] += string(ev.Text)
	}
	for _, l := range ev.Logprobs {
		value := fmt.Sprintf("%q %g", l.Token, l.Logprob)
		for _, top := range l.Top {
			value += fmt.Sprintf(", %q %g", top.Token, top.Logprob)
		}
		put("logprob", value)
	}
	if c := ev.Tool; c != nil {
		put("tool", fmt.Sprintf("%d id=%q name=%q arguments=%q", c.Index, c.ID, c.Name, c.Arguments))
	}
	if len(ev.Extra) > 0 {
		put("extra", string(ev.Extra))
	}
	if ev.Finish != "" {
		put("finish", string(ev.Finish))
		o.finishes[ev.Choice]++
	}
}

// madeUp are the ids that adapters make up for calls that have none.
var madeUp = regexp.MustCompile(`call_[A-Z2-7]{26}`)

// text is the golden form: a line for each event. Raw frames are as long as
// the network makes them, so their texts are joined.
func (o *outcome) text(kind frame.Kind) string {
	var b strings.Builder
	for i := 0; i < len(o.lines); i++ {
		l := o.lines[i]
		for kind == frame.Raw && i+1 < len(o.lines) && l.what == "text" && o.lines[i+1].what == "text" {
			i++
			l.value += o.lines[i].value
		}
		if l.what == "text" || l.what == "reasoning" {
			l.value = fmt.Sprintf("%q", l.value)
		}
		fmt.Fprintf(&b, "%d %s %s\n", l.choice, l.what, madeUp.ReplaceAllString(l.value, "call_MADEUP"))
	}
	if o.err != nil {
		b.WriteString(describe(o.err))
		return b.String()
	}
	if o.usage.Estimated { // package stream counts as it likes
		b.WriteString("usage estimated\n")
		return b.String()
	}
	fmt.Fprintf(&b, "usage prompt=%d completion=%d cached=%d reasoning=%d\n",
		o.usage.Prompt, o.usage.Completion, o.usage.Cached, o.usage.Reasoning)
	return b.String()
}

func describe(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("error %v\n", err)
	}
	return fmt.Sprintf("error %d %s code=%q: %s\n", e.Status, e.Type, e.Code, e.Message)
}

// finished reports whether every choice has ended.
func (o *outcome) finished(req *llm.Request) bool { return len(o.finishes) == max(req.N, 1) }

// check holds what must be true of any answer.
func (o *outcome) check(t *testing.T, c *testCase) {
	t.Helper()
	if o.err == nil && !o.finished(c.req) {
		t.Errorf("a complete answer with %d of %d choices finished", len(o.finishes), max(c.req.N, 1))
	}
	var e *llm.Error
	if o.err != nil && !errors.As(o.err, &e) {
		t.Errorf("error %v is no *llm.Error", o.err)
	}
	for choice, n := range o.finishes {
		if n != 1 {
			t.Errorf("choice %d finished %d times", choice, n)
		}
	}
	for choice, text := range o.texts {
		if !utf8.ValidString(text) {
			t.Errorf("choice %d: not UTF-8: %q", choice, text)
		}
		for _, stop := range c.req.Stop {
			if strings.Contains(text, stop) {
				t.Errorf("choice %d: %q shows the stop string %q", choice, text, stop)
			}
		}
	}
	for _, l := range o.lines {
		if !utf8.ValidString(l.value) {
			t.Errorf("event is not whole runes: %+v", l)
		}
	}
}

// golden compares got with the file at path, or writes it with -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%swant\n%s", path, got, want)
	}
}
