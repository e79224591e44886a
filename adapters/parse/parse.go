// Package parse reads what models write as text and is not the answer's text:
// their reasoning, between tags such as <think> and </think>, and the calls of
// tools, in the notation that each family of models was trained on. Both are
// taken out while the text streams.
//
// What is particular about a family is data (families.go); one machine reads
// them all. It looks at a text only as far as it needs to, holds back what
// could be the beginning of something, and gives back as text whatever turns out
// not to be: without anything to recognise, what comes out is what went in, and
// how the text was cut into pieces makes no difference.
//
// The text comes in as whole runes without stop strings; package stream sees to
// that. Which prompts are rendered, and so which family it is, is up to package
// route.
package parse

import (
	"crypto/rand"

	"dragoman/adapters/llm"
)

// Limits of what is held back, in bytes. What is longer is text.
const (
	maxHead  = 32 << 10 // a call up to its arguments
	maxSpace = 4 << 10  // white space at the beginning, and between calls
	maxGap   = 100      // between the name of a tool and the arguments
	maxLines = 16       // line feeds that are cut off beside a tag
	maxValue = 1 << 20  // an argument that may be JSON; a longer one is a string
)

// maxDepth bounds the nesting of what is taken for JSON.
const maxDepth = 128

// Parser reads the text of one choice. It is used by one goroutine.
type Parser struct {
	plan *Plan
	mode mode
	held []byte // text that is not understood yet
	seen int    // how long held was when it was looked at

	fresh   bool     // nothing but white space has come
	message bool     // within a message that has a header (headers)
	closers []string // what ends the reasoning
	lines   int      // line feeds that have been cut off
	next    mode     // after those

	calls  int
	broken bool // a call has begun and its arguments are not complete
	open   openCall

	out   []llm.Event // what the current push gives
	base  int         // out[base:] is new
	arena *[]byte
}

// mode is a state of the machine. It looks at data, which is not empty, and
// returns how much of it is dealt with; wait says that it needs more to go on.
// At the end of the text, end is set: there is no more, and it must not wait.
type mode func(p *Parser, data []byte, end bool) (n int, wait bool)

// Push appends to dst what the next piece of text means. The events' bytes are
// those of text, or are appended to *arena.
func (p *Parser) Push(dst []llm.Event, arena *[]byte, text []byte) []llm.Event {
	if len(text) == 0 {
		return dst
	}
	if held := len(p.held) + len(text); p.seen > 1<<10 && held < p.seen+p.seen/8 {
		p.held = append(p.held, text...) // looking at it each time would take too long
		return dst
	}
	p.out, p.base, p.arena = dst, len(dst), arena
	data := join(arena, p.held, text)
	p.held = append(p.held[:0], p.run(data, false)...)
	p.seen = len(p.held)
	return p.out
}

// Flush appends to dst what the text held back means now that it has ended.
func (p *Parser) Flush(dst []llm.Event, arena *[]byte) []llm.Event {
	p.out, p.base, p.arena = dst, len(dst), arena
	data := p.held
	p.held = nil
	p.run(data, true)
	p.endValue()
	return p.out
}

// Held returns how many bytes of the text are held back.
func (p *Parser) Held() int { return len(p.held) }

// Called reports whether tools were called, and every call is complete.
func (p *Parser) Called() bool { return p.calls > 0 && !p.broken }

func (p *Parser) run(data []byte, end bool) (rest []byte) {
	for len(data) > 0 {
		n, wait := p.mode(p, data, end)
		data = data[n:]
		if wait {
			break
		}
	}
	return data
}

// last returns the event that the current push gave last, or adds one.
func (p *Parser) last(fits func(*llm.Event) bool) *llm.Event {
	if n := len(p.out); n > p.base && fits(&p.out[n-1]) {
		return &p.out[n-1]
	}
	p.out = append(p.out, llm.Event{})
	return &p.out[len(p.out)-1]
}

// text appends a part of the answer. Within an event reasoning comes first, then
// text, then a call.
func (p *Parser) text(b []byte) {
	if len(b) > 0 {
		ev := p.last(func(ev *llm.Event) bool { return ev.Tool == nil })
		ev.Text = join(p.arena, ev.Text, b)
	}
}

func (p *Parser) reasoning(b []byte) {
	if len(b) > 0 {
		ev := p.last(func(ev *llm.Event) bool { return ev.Tool == nil && len(ev.Text) == 0 })
		ev.Reasoning = join(p.arena, ev.Reasoning, b)
	}
}

// call begins a call of the tool name.
func (p *Parser) call(name string) {
	id := "call_" + rand.Text()
	if p.plan.shortIDs {
		id = rand.Text()[:9]
	}
	ev := p.last(func(ev *llm.Event) bool { return ev.Tool == nil })
	ev.Tool = &llm.ToolDelta{Index: p.calls, ID: id, Name: name}
	p.calls++
}

// arguments appends a part of the arguments of the last call.
func (p *Parser) arguments(b []byte) {
	if len(b) == 0 {
		return
	}
	index := p.calls - 1
	ev := p.last(func(ev *llm.Event) bool { return ev.Tool != nil && ev.Tool.Index == index })
	if ev.Tool == nil {
		ev.Tool = &llm.ToolDelta{Index: index}
	}
	ev.Tool.Arguments = join(p.arena, ev.Tool.Arguments, b)
}

// join returns a and b as one slice, appended to the arena if it must be. What is
// at the arena's end already is not copied again, however often it grows.
func join(arena *[]byte, a, b []byte) []byte {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	start := len(*arena) - len(a)
	if start < 0 || &(*arena)[start] != &a[0] {
		start = len(*arena)
		*arena = append(*arena, a...)
	}
	*arena = append(*arena, b...)
	return (*arena)[start:]
}
