package frame

import (
	"bytes"
	"io"
)

// eventState is where the Reader is in a server-sent event. Offsets count from
// the start of the rest, which holds the event from its first data line on.
type eventState struct {
	line       int  // where the current line begins
	skipLF     bool // the last line ended with CR: a LF after it is part of that end
	name       string
	hasData    bool
	start, end int  // the data so far, joined in place
	bare       bool // the data is JSON in lines that are no fields
	nest       nest // bare: where its value is
	names      []string
}

// cutEvent follows the WHATWG rules ("event stream interpretation"), and more:
// JSON in lines of its own is a frame, since some servers report errors so; a
// field named error is the data of an event named error; an event with empty
// data and no name is no frame, since some servers keep alive so.
func (r *Reader) cutEvent() {
	e := &r.events
	for {
		rest := r.rest()
		if e.skipLF && r.off < len(rest) {
			if e.skipLF = false; rest[r.off] == '\n' {
				r.off++
				e.line = r.off
			}
		}
		r.forget()
		rest = r.rest()
		i := r.marks.index(rest[r.off:])
		if i < 0 {
			r.off = len(rest)
			return
		}
		line := span{e.line, r.off + i}
		e.skipLF = rest[line.end] == '\r'
		r.off = line.end + 1
		e.line = r.off
		if r.takeLine(line) && r.deliverEvent() {
			return
		}
	}
}

// span is a part of the rest.
type span struct{ start, end int }

// forget drops the lines that are done with while an event has no data.
func (r *Reader) forget() {
	if e := &r.events; !e.hasData {
		r.pos, r.off, e.line = r.pos+e.line, r.off-e.line, 0
	}
}

// takeLine adds one line to the event and reports whether the event is whole.
func (r *Reader) takeLine(line span) bool {
	e := &r.events
	text := r.rest()[line.start:line.end]
	if len(text) == 0 {
		return true
	}
	if e.bare || !e.hasData && (text[0] == '{' || text[0] == '[') {
		e.bare = true
		r.addData(line)
		return e.nest.scan(text, &marks{'"', '\\'}) >= 0
	}
	name, value, _ := bytes.Cut(text, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	data := span{line.end - len(value), line.end}
	switch string(name) {
	case "data":
		r.addData(data)
	case "error":
		e.name = "error"
		r.addData(data)
	case "event":
		e.name = e.intern(value)
	}
	return false
}

// addData appends a part of the rest to the data, after a LF if there is some.
// What it overwrites is the end and the field name of lines already taken.
func (r *Reader) addData(s span) {
	e, rest := &r.events, r.rest()
	if !e.hasData {
		e.hasData, e.start, e.end = true, s.start, s.end
		return
	}
	rest[e.end] = '\n'
	e.end += 1 + copy(rest[e.end+1:], rest[s.start:s.end])
}

// deliverEvent ends the event and reports whether the Reader has to stop here.
func (r *Reader) deliverEvent() bool {
	e := &r.events
	data, n, name := r.rest()[e.start:e.end], e.line, e.name
	empty := !e.hasData || len(data) == 0 && name == "" ||
		e.bare && cutShort(data) // a blank line in it: these lines were no JSON
	e.name, e.hasData, e.bare, e.nest, e.start, e.end, e.line = "", false, false, nest{}, 0, 0, 0
	if empty {
		r.advance(n)
		return false
	}
	r.deliver(name, data, n)
	return true
}

// lastEvent delivers an event without its blank line. If the last line lacks
// its end too and what it says is not whole, the answer was cut there.
func (r *Reader) lastEvent() {
	e := &r.events
	rest := r.rest()
	if line := (span{e.line, len(rest)}); line.start < line.end {
		e.line = line.end
		cut := isStartOf("data:", rest[line.start:line.end])
		r.takeLine(line)
		if cut || e.hasData && cutShort(rest[e.start:e.end]) {
			r.fail(io.ErrUnexpectedEOF)
			return
		}
	}
	r.deliverEvent()
}

func isStartOf(s string, b []byte) bool { return len(b) < len(s) && s[:len(b)] == string(b) }

// intern returns b as a string, the same one for the same name. An answer uses
// few names; beyond that a new string does no harm.
func (e *eventState) intern(b []byte) string {
	for _, name := range e.names {
		if name == string(b) {
			return name
		}
	}
	name := string(b)
	if len(e.names) < 16 {
		e.names = append(e.names, name)
	}
	return name
}
