package declared

import (
	"bytes"
	"slices"
	"strconv"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// field is a part of a request that a spec sends.
type field struct {
	value  func(*llm.Request) []byte // JSON; nil is absent
	number bool
	list   bool
}

// fields are the parts of a request, by the names that specs use.
var fields = func() map[string]field {
	all := map[string]field{
		"id":       {value: func(r *llm.Request) []byte { return adapters.AppendString(nil, r.ID) }},
		"model":    {value: func(r *llm.Request) []byte { return adapters.AppendString(nil, r.Model) }},
		"prompt":   {value: func(r *llm.Request) []byte { return adapters.AppendString(nil, r.Prompt.Text()) }},
		"messages": {value: func(r *llm.Request) []byte { return adapters.AppendMessages(nil, r.Messages) }, list: true},
		"stream":   {value: func(r *llm.Request) []byte { return strconv.AppendBool(nil, r.Stream) }},
		"stop": {list: true, value: func(r *llm.Request) []byte {
			if len(r.Stop) == 0 {
				return nil
			}
			return adapters.AppendStrings(nil, r.Stop)
		}},
		"do_sample": {value: func(r *llm.Request) []byte { return strconv.AppendBool(nil, !isGreedy(r)) }},
		"max_tokens": {number: true, value: func(r *llm.Request) []byte {
			if r.MaxTokens <= 0 {
				return nil
			}
			return strconv.AppendInt(nil, r.MaxTokens, 10)
		}},
	}
	for p := range llm.NumParams {
		all[p.String()] = field{
			number: p != llm.StopTokenIDs && p != llm.LogitBias,
			list:   p == llm.StopTokenIDs,
			value: func(r *llm.Request) []byte {
				if r.Params[p] == "" {
					return nil
				}
				return []byte(r.Params[p])
			},
		}
	}
	return all
}()

// isGreedy reports whether the client wants the likeliest token each time.
func isGreedy(r *llm.Request) bool {
	t, err := strconv.ParseFloat(r.Params[llm.Temperature], 64)
	return err == nil && t == 0
}

// fieldNames are the keys of send.map, for messages.
func fieldNames() []string {
	names := []string{"id", "model", "messages", "prompt", "stream", "max_tokens", "stop", "do_sample"}
	for p := range llm.NumParams {
		names = append(names, p.String())
	}
	return names
}

// shaped is a field with what a spec does to its value.
type shaped struct {
	field
	min, max            *float64
	omitBelow, omitFrom *float64
	absent              []byte // what is sent for an absent value; nil is nothing
	asList              bool
}

// json returns what is sent for req; nil is nothing.
func (s *shaped) json(req *llm.Request) []byte {
	value := s.value(req)
	if value == nil {
		return s.absent
	}
	if s.number {
		if value = s.bounded(value); value == nil {
			return nil
		}
	}
	if s.list && s.max != nil {
		value = first(value, int(*s.max))
	}
	if s.asList {
		value = slices.Concat([]byte{'['}, value, []byte{']'})
	}
	return value
}

// first returns a JSON array with the first n of its elements.
func first(array []byte, n int) []byte {
	var list adapters.List
	for element := range jsonscan.Elements(array) {
		if n--; n < 0 {
			break
		}
		list.Add(element)
	}
	return list.JSON()
}

// bounded applies the bounds. A number within them keeps its spelling.
func (s *shaped) bounded(value []byte) []byte {
	x, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return value
	}
	if s.omitBelow != nil && x < *s.omitBelow || s.omitFrom != nil && x >= *s.omitFrom {
		return nil
	}
	bound := x
	if s.min != nil {
		bound = max(bound, *s.min)
	}
	if s.max != nil {
		bound = min(bound, *s.max)
	}
	if bound == x {
		return value
	}
	return strconv.AppendFloat(nil, bound, 'f', -1, 64)
}

// node is a member of the body: an object, a fixed value or a field.
type node struct {
	name     string
	members  []*node
	constant []byte
	field    *shaped
	asString bool // sent as a string that holds the JSON
}

func (n *node) child(name string) *node {
	for _, m := range n.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// append writes n's value, and reports whether there was one: an object all of
// whose members are absent is left out.
func (n *node) append(dst []byte, req *llm.Request) ([]byte, bool) {
	switch {
	case n.constant != nil:
		return append(dst, n.constant...), true
	case n.field != nil:
		value := n.field.json(req)
		if n.asString && value != nil {
			return adapters.AppendString(dst, string(value)), true
		}
		return append(dst, value...), value != nil
	case n.asString:
		object, ok := n.object(nil, req)
		if !ok {
			return dst, false
		}
		return adapters.AppendString(dst, string(object)), true
	}
	return n.object(dst, req)
}

func (n *node) object(dst []byte, req *llm.Request) ([]byte, bool) {
	start := len(dst)
	dst = append(dst, '{')
	for _, m := range n.members {
		before := len(dst)
		if before > start+1 {
			dst = append(dst, ',')
		}
		dst = append(adapters.AppendString(dst, m.name), ':')
		var ok bool
		if dst, ok = m.append(dst, req); !ok {
			dst = dst[:before]
		}
	}
	if bytes.Equal(dst[start:], []byte{'{'}) {
		return dst[:start], false
	}
	return append(dst, '}'), true
}
