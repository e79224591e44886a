package adapters

import (
	"slices"
	"strconv"
)

// Object builds the text of a JSON object, member by member. The zero value is
// an object without members.
type Object struct{ open []byte }

// Grow makes room for n more bytes.
func (o *Object) Grow(n int) { o.open = slices.Grow(o.open, n) }

// Set adds a member whose value is JSON text. An empty value adds nothing, as
// many backends take null for a mistake.
func (o *Object) Set(name string, value []byte) {
	if len(value) == 0 {
		return
	}
	sep := byte(',')
	if len(o.open) == 0 {
		sep = '{'
	}
	o.open = append(AppendString(append(o.open, sep), name), ':')
	o.open = append(o.open, value...)
}

// SetText adds a member that is a string, which may be "".
func (o *Object) SetText(name, value string) { o.Set(name, AppendString(nil, value)) }

// SetInt adds a member that is a whole number.
func (o *Object) SetInt(name string, n int64) { o.Set(name, strconv.AppendInt(nil, n, 10)) }

// SetObject adds a member that is an object, unless that has no members.
func (o *Object) SetObject(name string, value *Object) {
	if len(value.open) > 0 {
		o.Set(name, value.JSON())
	}
}

// JSON returns the object. Nothing may be added afterwards.
func (o *Object) JSON() []byte {
	if len(o.open) == 0 {
		return []byte("{}")
	}
	return append(o.open, '}')
}

// List builds the text of a JSON array. The zero value is an empty one.
type List struct{ open []byte }

// Add adds an element, which is JSON text.
func (l *List) Add(value []byte) {
	sep := byte(',')
	if len(l.open) == 0 {
		sep = '['
	}
	l.open = append(append(l.open, sep), value...)
}

// Empty reports whether nothing was added.
func (l *List) Empty() bool { return len(l.open) == 0 }

// JSON returns the array. Nothing may be added afterwards.
func (l *List) JSON() []byte {
	if len(l.open) == 0 {
		return []byte("[]")
	}
	return append(l.open, ']')
}
