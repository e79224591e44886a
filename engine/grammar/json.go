package grammar

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"slices"
)

// Bounds of a schema.
const (
	maxSchema  = 1 << 18 // bytes
	maxDepth   = 100     // values within values
	maxSchemas = 20_000  // schemas within it
)

// value is a JSON value, with an object's members in their order.
type value struct {
	kind    jsontext.Kind // the first byte of its text; '0' for all numbers
	text    string        // what a string says; else the JSON text of what is neither object nor array
	members []member
	list    []*value
}

type member struct {
	name  string
	value *value
}

var errDeep = errors.New("it is nested too deeply")

// readJSON reads one value.
func readJSON(data []byte) (*value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(data))
	v, err := readValue(d, 0)
	if err != nil {
		return nil, err
	}
	if rest := bytes.TrimLeft(data[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, errors.New("something follows it")
	}
	return v, nil
}

func readValue(d *jsontext.Decoder, depth int) (*value, error) {
	if depth == maxDepth {
		return nil, errDeep
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	v := &value{kind: t.Kind()}
	switch v.kind {
	case '{':
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, fmt.Errorf("it is not JSON: %w", err)
			}
			m := member{name: name.String()}
			if m.value, err = readValue(d, depth+1); err != nil {
				return nil, err
			}
			v.members = append(v.members, m)
		}
		_, err = d.ReadToken()
	case '[':
		for d.PeekKind() != ']' {
			one, err := readValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			v.list = append(v.list, one)
		}
		_, err = d.ReadToken()
	default:
		v.text = t.String()
	}
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	return v, nil
}

// get returns a member's value, nil if there is none.
func (v *value) get(name string) *value {
	if i := slices.IndexFunc(v.members, func(m member) bool { return m.name == name }); i >= 0 {
		return v.members[i].value
	}
	return nil
}

// has reports whether v has one of the members.
func (v *value) has(names ...string) bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return slices.Contains(names, m.name) })
}

// is reports whether v, which may be nil, is this literal.
func (v *value) is(literal string) bool { return v != nil && v.kind != '"' && v.text == literal }

// appendJSON appends v without spaces.
func (v *value) appendJSON(dst []byte) []byte {
	switch v.kind {
	case '"':
		return appendQuoted(dst, v.text)
	case '{':
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, m.name), ':')
			dst = m.value.appendJSON(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, one := range v.list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = one.appendJSON(dst)
		}
		return append(dst, ']')
	}
	return append(dst, v.text...)
}

func appendQuoted(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // what was read is valid UTF-8
	return dst
}

// quoted is s as a JSON string.
func quoted(s string) *expr { return lit(string(appendQuoted(nil, s))) }
