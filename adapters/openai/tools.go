package openai

import (
	"crypto/rand"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// tools repairs the tool calls of one choice. Backends leave out indexes or use
// one for all calls, repeat names and ids in every delta or make up a new id
// for each, and send arguments as objects; out go calls that are numbered from
// 0, each with one id and one name, and arguments as JSON text.
type tools struct {
	choice int
	calls  []call
	opened int    // how many of calls are open
	args   []byte // what the events of one frame point into
}

// call is one call as it was told so far.
type call struct {
	index    int // as the backend numbers it; -1 if it does not
	id, name string
	open     bool // an event has told of it
	number   int  // as clients are told, once it is open
	balance
}

// toolDelta is an element of tool_calls as sent.
type toolDelta struct {
	index    int // -1 if absent
	id, name string
	args     []byte
}

// decode appends the events of a list of tool calls. Those of a message are
// whole, those of a delta are not.
func (t *tools) decode(dst []llm.Event, list []byte, whole bool) []llm.Event {
	t.args = t.args[:0]
	for object := range jsonscan.Elements(list) {
		delta := t.read(object)
		i := len(t.calls)
		if whole {
			t.calls = append(t.calls, call{})
		} else {
			i = t.locate(&delta)
		}
		c := &t.calls[i]
		if c.id == "" {
			c.id = delta.id
		}
		if c.name == "" {
			c.name = delta.name
		}
		c.feed(delta.args)
		if c.open && len(delta.args) > 0 {
			dst = append(dst, llm.Event{Choice: t.choice, Tool: &llm.ToolDelta{Index: c.number, Arguments: delta.args}})
		} else if !c.open && (c.name != "" || len(delta.args) > 0) {
			c.open, c.number = true, t.opened
			if t.opened++; c.id == "" || t.taken(c.id, i) {
				c.id = "call_" + rand.Text()
			}
			dst = append(dst, llm.Event{Choice: t.choice, Tool: &llm.ToolDelta{Index: c.number, ID: c.id, Name: c.name, Arguments: delta.args}})
		}
	}
	return dst
}

// finish appends what is missing at the end: arguments of calls that have none,
// which clients would fail to parse.
func (t *tools) finish(dst []llm.Event) []llm.Event {
	for i := range t.calls {
		if c := &t.calls[i]; c.open && !c.begun {
			c.feed(noArguments)
			dst = append(dst, llm.Event{Choice: t.choice, Tool: &llm.ToolDelta{Index: c.number, Arguments: noArguments}})
		}
	}
	return dst
}

var noArguments = []byte("{}")

// locate returns the position in t.calls of the call that d is a part of,
// which may be a new one.
func (t *tools) locate(d *toolDelta) int {
	found := -1
	for i := range t.calls {
		c := &t.calls[i]
		if d.index < 0 || c.index == d.index {
			found = i
			if d.id != "" && c.id == d.id && (d.name == "" || c.name == "" || d.name == c.name) {
				return i
			}
		}
	}
	if found < 0 || t.calls[found].endedBy(d) {
		found = len(t.calls)
		t.calls = append(t.calls, call{index: d.index})
	}
	return found
}

// endedBy reports whether d, which is not told to be a part of c, begins
// another call. Only a name begins one: a new id without a name is a backend
// that makes up an id for every delta.
func (c *call) endedBy(d *toolDelta) bool {
	switch {
	case d.name == "" || c.name == "":
		return false
	case d.id != "" && c.id != "" && d.id != c.id:
		return true
	}
	return d.name != c.name || c.complete() && len(d.args) > 0
}

func (t *tools) taken(id string, by int) bool {
	for i := range t.calls {
		if i != by && t.calls[i].id == id {
			return true
		}
	}
	return false
}

func (t *tools) read(object []byte) toolDelta {
	d := toolDelta{index: -1}
	var args []byte
	for name, value := range jsonscan.All(object) {
		switch string(name) {
		case "index":
			if !adapters.IsNull(value) {
				d.index = adapters.Int(value)
			}
		case "id":
			if d.id = adapters.Text(value); d.id == "null" { // Mistral
				d.id = ""
			}
		case "function":
			for name, value := range jsonscan.All(value) {
				switch string(name) {
				case "name":
					d.name = adapters.Text(value)
				case "arguments":
					args = value
				}
			}
		}
	}
	from := len(t.args)
	switch {
	case adapters.IsNull(args):
	case args[0] == '"':
		t.args = jsonscan.AppendUnquoted(t.args, args)
	default:
		t.args = append(t.args, args...)
	}
	d.args = t.args[from:]
	return d
}

// balance follows JSON text, in pieces, to know when an object is whole.
type balance struct {
	depth                  int
	begun, quoted, escaped bool
}

func (b *balance) feed(text []byte) {
	for _, c := range text {
		b.begun = true
		switch {
		case b.escaped:
			b.escaped = false
		case b.quoted:
			b.escaped = c == '\\'
			b.quoted = c != '"'
		case c == '"':
			b.quoted = true
		case c == '{' || c == '[':
			b.depth++
		case c == '}' || c == ']':
			b.depth--
		}
	}
}

func (b *balance) complete() bool { return b.begun && b.depth <= 0 && !b.quoted }
