package openai

import (
	"cmp"
	"net/http"

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
	held     []byte // arguments that came before the name
	open     bool   // an event has told of it
	number   int    // as clients are told, once it is open
	balance
}

// maxHeld bounds the arguments that wait for a name.
const maxHeld = 1 << 20

// toolDelta is an element of tool_calls as sent.
type toolDelta struct {
	index    int // -1 if absent
	id, name string
	args     []byte
}

// decode appends the events of a list of tool calls. Those of a message are
// whole, those of a delta are not.
func (t *tools) decode(dst []llm.Event, list []byte, whole bool) ([]llm.Event, error) {
	for object := range jsonscan.Elements(list) {
		d := t.read(object)
		i := len(t.calls)
		if whole {
			t.calls = append(t.calls, call{})
		} else {
			i = t.locate(&d)
		}
		if len(t.calls) > adapters.MaxCalls {
			return dst, adapters.TooManyCalls()
		}
		var err error
		if dst, err = t.add(dst, i, &d); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// legacy appends the events of a function_call, the older form, of which a
// choice has one.
func (t *tools) legacy(dst []llm.Event, object []byte) ([]llm.Event, error) {
	d := toolDelta{index: -1}
	t.function(&d, object)
	if len(t.calls) == 0 {
		t.calls = append(t.calls, call{})
	}
	return t.add(dst, 0, &d)
}

// add appends the event of a part of call i, which waits for the call's name.
func (t *tools) add(dst []llm.Event, i int, d *toolDelta) ([]llm.Event, error) {
	c := &t.calls[i]
	c.id, c.name = cmp.Or(c.id, d.id), cmp.Or(c.name, d.name)
	c.feed(d.args)
	switch {
	case !c.open && c.name != "":
		return t.begin(dst, i, d.args), nil
	case !c.open:
		c.held = append(c.held, d.args...)
		if len(c.held) > maxHeld {
			return dst, llm.Upstream(http.StatusBadGateway, "", "The backend called a tool without its name.")
		}
	case len(d.args) > 0:
		dst = append(dst, llm.Event{Choice: t.choice, Tool: &llm.ToolDelta{Index: c.number, Arguments: d.args}})
	}
	return dst, nil
}

// begin appends the event that tells of call i first.
func (t *tools) begin(dst []llm.Event, i int, args []byte) []llm.Event {
	c := &t.calls[i]
	c.open, c.number = true, t.opened
	if t.opened++; c.id == "" || t.taken(c.id, i) {
		c.id = adapters.CallID("")
	}
	if len(c.held) > 0 {
		args, c.held = append(c.held, args...), nil
	}
	return append(dst, llm.Event{Choice: t.choice, Tool: &llm.ToolDelta{Index: c.number, ID: c.id, Name: c.name, Arguments: args}})
}

// finish appends what is missing at the end: calls whose name never came, and
// arguments of calls that have none, which clients would fail to parse.
func (t *tools) finish(dst []llm.Event) []llm.Event {
	for i := range t.calls {
		c := &t.calls[i]
		switch {
		case len(c.held) > 0:
			dst = t.begin(dst, i, nil)
		case c.open && !c.begun:
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

// read reads an element of tool_calls.
func (t *tools) read(object []byte) toolDelta {
	d := toolDelta{index: -1}
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
			t.function(&d, value)
		}
	}
	return d
}

// function reads what is called.
func (t *tools) function(d *toolDelta, object []byte) {
	from := len(t.args)
	for name, value := range jsonscan.All(object) {
		switch string(name) {
		case "name":
			d.name = adapters.Text(value)
		case "arguments":
			switch {
			case adapters.IsNull(value):
			case value[0] == '"':
				t.args = jsonscan.AppendUnquoted(t.args, value)
			default:
				t.args = append(t.args, value...)
			}
		}
	}
	d.args = t.args[from:]
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
