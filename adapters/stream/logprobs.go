package stream

import (
	"bytes"

	"dragoman/adapters/llm"
)

// logprobs are the tokens of a choice whose text has not come out yet: it may
// be kept back, a token may be a part of a rune, and what becomes reasoning, a
// tool call or a stop string is no text of the answer.
type logprobs struct {
	waiting []llm.Logprob
	credit  int // bytes of text that have come out and are more than the tokens that went with them
}

// add appends tokens. Those that make no text belong to none.
func (l *logprobs) add(tokens []llm.Logprob) {
	for _, t := range tokens {
		if len(t.Token) > 0 {
			l.waiting = append(l.waiting, t)
		}
	}
}

// logprobs gives the tokens of a choice to the events that one push made of its
// text. cut says that the text ended before what the backend sent.
func (p *pipeline) logprobs(c *choice, events []llm.Event, cut bool) {
	var text []byte
	to := -1
	for i := range events {
		if len(events[i].Text) == 0 {
			continue
		}
		if text = append(text, events[i].Text...); to < 0 {
			to = i
		}
	}
	l := &c.logprobs
	from, end, read := 0, 0, 0
	if c.parser != nil {
		from, end, read = l.within(text, c.kept())
	} else {
		end = l.covered(len(text))
		if c.finish != "" && !cut { // the backend's tokens may not add up to its text
			end, to = len(l.waiting), max(to, 0)
		}
		read = end
	}
	if from < end && to >= 0 {
		start := len(p.logs)
		p.logs = append(p.logs, l.waiting[from:end]...)
		events[to].Logprobs = p.logs[start:]
	}
	l.drop(read)
}

// covered returns how many tokens n more bytes of text make complete.
func (l *logprobs) covered(n int) int {
	l.credit += n
	for i := range l.waiting {
		if l.credit < len(l.waiting[i].Token) {
			return i
		}
		l.credit -= len(l.waiting[i].Token)
	}
	l.credit = 0 // bytes that are no runes become longer
	return len(l.waiting)
}

// within returns which of the tokens, from one up to another, make up text, and
// how many have been read: all but those of the last kept bytes. What comes
// before text, or after it, is something else.
func (l *logprobs) within(text []byte, kept int) (from, end, read int) {
	var all []byte
	for _, t := range l.waiting {
		all = append(all, t.Token...)
	}
	all = all[:max(len(all)-kept, 0)]
	begin := bytes.LastIndex(all, text)
	if begin < 0 || len(text) == 0 {
		begin, text = len(all), nil
	}
	after := begin + len(text)
	if begin == l.credit { // it goes on with the first token's
		begin = 0
	}
	l.credit = 0
	at := 0
	for i, t := range l.waiting {
		if at < begin {
			from = i + 1
		}
		if at+len(t.Token) > len(all) {
			l.credit = max(after-max(at, begin), 0)
			break
		}
		read = i + 1
		if at += len(t.Token); at <= after {
			end = i + 1
		}
	}
	return from, end, read
}

// drop forgets the first n tokens.
func (l *logprobs) drop(n int) {
	rest := copy(l.waiting, l.waiting[n:])
	clear(l.waiting[rest:])
	l.waiting = l.waiting[:rest]
}

// kept returns how many bytes of the choice's text are kept back.
func (c *choice) kept() int { return c.text.runes.n + len(c.hold.kept) + c.parser.Held() }
