package stream

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/parse"
)

// lane is one kind of text of a choice, on its way to become clean deltas.
type lane struct {
	delta delta
	runes runes
}

// choice is the state of one choice.
type choice struct {
	text, reasoning lane
	echo            echo
	hold            hold
	parser          *parse.Parser // nil: the text is all answer
	numbers         numbers       // of tool calls, with a parser
	spoke           bool          // text or a tool call has come
	called          bool          // a tool call has come that the backend knows as one
	finish          llm.Finish
	logprobs        logprobs
}

// pipeline turns a decoder's events into the caller's. It has no clock and no
// connection.
type pipeline struct {
	traits  *adapters.Traits
	match   *matcher
	choices []choice
	left    int           // choices not finished
	stopped bool          // a stop string ended a choice, so the backend may still be talking
	bytes   int           // of what the model said
	arena   []byte        // holds the text of the current events that could not be used where it lay
	logs    []llm.Logprob // likewise their log-probabilities
	parsed  []llm.Event
	note    func(note)
	usage   llm.Usage
	extra   []byte // goes with the next event, as it is none by itself
}

func newPipeline(t *adapters.Traits, req *llm.Request, plan *parse.Plan, note func(note)) *pipeline {
	p := &pipeline{
		traits: t, note: note,
		match:   newMatcher(req.Stop, t.EndTexts),
		choices: make([]choice, max(req.N, 1)),
	}
	p.left = len(p.choices)
	for i := range p.choices {
		p.choices[i].echo.done = true
		if plan != nil {
			p.choices[i].parser = plan.NewParser()
		}
	}
	if t.EchoPrompt {
		prompt := req.Prompt.Text()
		for i := range p.choices {
			p.choices[i].echo = echo{prompt: prompt, done: prompt == ""}
		}
	}
	return p
}

// push appends to dst what ev means for the caller, if anything.
func (p *pipeline) push(dst []llm.Event, ev *llm.Event) ([]llm.Event, error) {
	p.usage = mergeUsage(p.usage, ev.Usage)
	if len(ev.Extra) > 0 {
		p.extra = slices.Clone(p.clean(ev.Extra)) // it may have to wait
	}
	if p.left == 0 {
		return p.late(dst), nil
	}
	index := ev.Choice
	if p.traits.SingleChoice || len(p.choices) == 1 {
		index = 0
	}
	if index < 0 || index >= len(p.choices) {
		return dst, llm.Upstream(http.StatusBadGateway, "", "The backend answered with choice %d of %d.", index, len(p.choices))
	}
	c := &p.choices[index]
	if c.finish != "" {
		return dst, nil
	}
	c.logprobs.add(ev.Logprobs)
	first := len(dst)
	out := llm.Event{Choice: index}
	out.Reasoning = c.reasoning.runes.push(&p.arena, p.fresh(&c.reasoning, ev.Reasoning))
	var stopped bool
	out.Text, stopped = p.text(c, ev.Text)
	called := ev.Tool != nil && !stopped
	c.called = c.called || called
	c.spoke = c.spoke || c.called || len(ev.Text) > 0 || len(ev.Reasoning) > 0
	if ev.Finish != "" && !stopped {
		var tail []byte
		tail, stopped = p.tail(c)
		out.Text = join(&p.arena, out.Text, tail)
		out.Reasoning = join(&p.arena, out.Reasoning, c.reasoning.runes.flush(&p.arena))
	}
	why := ev.Finish
	if stopped {
		p.stopped, why = true, llm.FinishStop
	}
	before := dst
	dst = p.parse(dst, c, &out, why != "")
	if called {
		out.Tool = p.tool(c, ev.Tool)
	}
	if c.numbers.next > adapters.MaxCalls || called && out.Tool.Index >= adapters.MaxCalls {
		return before, adapters.TooManyCalls()
	}
	if why != "" {
		p.end(c, &out, why)
	}
	dst = p.emit(dst, &out)
	if len(c.logprobs.waiting) > 0 {
		p.logprobs(c, dst[first:], stopped)
	}
	return dst, nil
}

// late appends an event for what came after the last finish.
func (p *pipeline) late(dst []llm.Event) []llm.Event {
	if len(p.extra) == 0 {
		return dst
	}
	dst = append(dst, llm.Event{Extra: p.extra})
	p.extra = nil
	return dst
}

// parse appends to dst what out's text means, if it may be more than text, and
// leaves in out what comes after that. Stop strings have been cut out before:
// they end what the model writes, whatever it means, as they do in a backend.
func (p *pipeline) parse(dst []llm.Event, c *choice, out *llm.Event, ended bool) []llm.Event {
	if c.parser == nil {
		return dst
	}
	p.parsed = c.parser.Push(p.parsed[:0], &p.arena, out.Text)
	if ended {
		p.parsed = c.parser.Flush(p.parsed, &p.arena)
	}
	if len(p.parsed) == 0 {
		out.Text = nil
		return dst
	}
	dst = p.emit(dst, &llm.Event{Choice: out.Choice, Reasoning: out.Reasoning})
	for i := range p.parsed {
		ev := &p.parsed[i]
		if ev.Choice = out.Choice; ev.Tool != nil {
			ev.Tool.Index = c.numbers.of(&c.numbers.text, ev.Tool.Index)
		}
		dst = p.emit(dst, ev)
	}
	*out = llm.Event{Choice: out.Choice}
	return dst
}

// fresh returns the new part of one piece of text.
func (p *pipeline) fresh(l *lane, text []byte) []byte {
	if !p.traits.Cumulative || len(text) == 0 {
		return text
	}
	fresh, extends := l.delta.next(text)
	if !extends {
		p.note(noteRewritten)
	}
	return fresh
}

// text takes one piece of a choice's text through all stages and reports
// whether a stop string ended it.
func (p *pipeline) text(c *choice, text []byte) (out []byte, stopped bool) {
	text = p.fresh(&c.text, text)
	before, text, differs := c.echo.strip(text)
	if differs {
		p.note(noteNoEcho)
		if before != "" {
			text = join(&p.arena, []byte(before), text)
		}
	}
	return c.hold.push(p.match, &p.arena, c.text.runes.push(&p.arena, text))
}

// tail returns the text that was kept back in a choice that now ends, and
// whether that completed a stop string.
func (p *pipeline) tail(c *choice) (out []byte, stopped bool) {
	broken := c.text.runes.flush(&p.arena)
	if n := c.text.delta.held; n > 0 {
		broken = join(&p.arena, broken, bytes.Repeat(replacement, n))
	}
	out, stopped = c.hold.push(p.match, &p.arena, broken)
	if stopped {
		return out, true
	}
	return join(&p.arena, out, c.hold.flush(p.match, true)), false
}

// tool returns d, or a copy of it, as valid UTF-8 and with an index that no call
// found in the text has.
func (p *pipeline) tool(c *choice, d *llm.ToolDelta) *llm.ToolDelta {
	index := d.Index
	if c.parser != nil {
		index = c.numbers.of(&c.numbers.known, index)
	}
	if index == d.Index && utf8.Valid(d.Arguments) && utf8.ValidString(d.Name) && utf8.ValidString(d.ID) {
		return d
	}
	return &llm.ToolDelta{
		Index: index, ID: strings.ToValidUTF8(d.ID, "\uFFFD"), Name: strings.ToValidUTF8(d.Name, "\uFFFD"),
		Arguments: p.clean(d.Arguments),
	}
}

// clean makes b, which is whole, valid UTF-8.
func (p *pipeline) clean(b []byte) []byte {
	var r runes
	return join(&p.arena, r.push(&p.arena, b), r.flush(&p.arena))
}

// end finishes a choice.
func (p *pipeline) end(c *choice, out *llm.Event, why llm.Finish) {
	if why == llm.FinishStop && (c.called || c.parser != nil && c.parser.Called()) {
		why = llm.FinishTools
	}
	c.finish, out.Finish = why, why
	p.left--
}

func (p *pipeline) emit(dst []llm.Event, out *llm.Event) []llm.Event {
	if len(out.Text) == 0 && len(out.Reasoning) == 0 && out.Tool == nil && out.Finish == "" {
		return dst
	}
	p.bytes += len(out.Text) + len(out.Reasoning)
	if out.Tool != nil {
		p.bytes += len(out.Tool.Name) + len(out.Tool.Arguments)
	}
	dst = append(dst, *out)
	if len(p.extra) > 0 {
		dst[len(dst)-1].Extra = p.extra
		p.extra = nil
	}
	return dst
}

// finishAll ends the choices that the backend left open, and reports whether
// they may end so: always if mayBeSilent, else only if they have said something.
func (p *pipeline) finishAll(dst []llm.Event, mayBeSilent bool) ([]llm.Event, bool) {
	for i := range p.choices {
		if c := &p.choices[i]; c.finish == "" && !c.spoke && !mayBeSilent {
			return dst, false
		}
	}
	for i := range p.choices {
		dst, _ = p.push(dst, &llm.Event{Choice: i, Finish: llm.FinishStop}) // the index is right
	}
	return dst, true
}

// flush appends the text that was kept back only because of what might have
// followed it, before an error.
func (p *pipeline) flush(dst []llm.Event) []llm.Event {
	for i := range p.choices {
		if c := &p.choices[i]; c.finish == "" {
			out := llm.Event{Choice: i, Text: c.hold.flush(p.match, false)}
			first := len(dst)
			dst = p.parse(dst, c, &out, true)
			dst = p.emit(dst, &out)
			p.logprobs(c, dst[first:], true)
		}
	}
	return dst
}
