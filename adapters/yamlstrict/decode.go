package yamlstrict

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
)

// Error is one thing that does not fit.
type Error struct {
	Path string // such as models.vicuna.backends[0].url; "" is the whole document
	Line int    // in the file, from 1; 0 if unknown
	Msg  string
}

// Error returns the path, the message and the line.
func (e *Error) Error() string {
	msg := e.Msg
	if e.Path != "" {
		msg = e.Path + ": " + msg
	}
	if e.Line > 0 {
		msg += fmt.Sprintf(" (line %d)", e.Line)
	}
	return msg
}

// Aliases can make a small document explode or contain itself; these bounds
// are far above any honest one.
const (
	maxDepth = 64
	maxNodes = 200_000
)

// Decode fills into, a pointer, from n, which stands at path ("" for a whole
// document), and returns an *Error for everything that does not fit; what fits
// is filled in nevertheless.
//
// It knows structs with yaml tags (untagged fields are left alone, ",inline"
// puts an embedded struct's keys beside the others), maps with string keys,
// slices, pointers, strings, booleans, integers, floats, time.Duration written
// as 1m30s, Pairs, and yaml.Node, which takes a part as it is for a later
// Decode. A null leaves any other field as it was, as if the key were absent.
// Merge keys (<<) work. Numbers are taken where a string is expected, in their
// own spelling.
func Decode(n *yaml.Node, path string, into any) []error {
	d := decoder{}
	if n != nil {
		d.value(n, path, reflect.ValueOf(into).Elem(), 0)
	}
	return d.errs
}

type decoder struct {
	errs  []error
	nodes int
}

func (d *decoder) bad(n *yaml.Node, path, format string, args ...any) {
	d.errs = append(d.errs, &Error{Path: path, Line: n.Line, Msg: fmt.Sprintf(format, args...)})
}

var (
	nodeType     = reflect.TypeFor[yaml.Node]()
	pairsType    = reflect.TypeFor[Pairs]()
	durationType = reflect.TypeFor[time.Duration]()
)

func (d *decoder) value(n *yaml.Node, path string, v reflect.Value, depth int) {
	d.nodes++
	if depth > maxDepth || d.nodes > maxNodes {
		if d.nodes <= maxNodes+1 {
			d.bad(n, path, "nested too deeply, or too large once its aliases are expanded")
		}
		d.nodes = max(d.nodes, maxNodes+1)
		return
	}
	switch n.Kind {
	case yaml.DocumentNode:
		d.value(n.Content[0], path, v, depth+1)
		return
	case yaml.AliasNode:
		d.value(n.Alias, path, v, depth+1)
		return
	}
	if v.Type() == nodeType {
		v.Set(reflect.ValueOf(*n))
		return
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	if v.Type() == pairsType {
		d.ordered(n, path, v, depth)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		d.value(n, path, p.Elem(), depth+1)
		v.Set(p)
	case reflect.Struct:
		d.structure(n, path, v, depth)
	case reflect.Map:
		d.mapping(n, path, v, depth)
	case reflect.Slice:
		d.sequence(n, path, v, depth)
	default:
		d.scalar(n, path, v)
	}
}

// Pairs are the entries of a mapping in the order in which they were written.
type Pairs []Pair

// Pair is one entry of a mapping.
type Pair struct {
	Key   string
	Line  int // the key's
	Value yaml.Node
}

func (d *decoder) ordered(n *yaml.Node, path string, v reflect.Value, depth int) {
	if n.Kind != yaml.MappingNode {
		d.bad(n, path, "must be a mapping, not %s", describe(n))
		return
	}
	var list Pairs
	for _, p := range d.pairs(n, path, depth) {
		value := p.value
		for range maxDepth {
			if value.Kind == yaml.AliasNode {
				value = value.Alias
			}
		}
		list = append(list, Pair{p.key.Value, p.key.Line, *value})
	}
	v.Set(reflect.ValueOf(list))
}

func (d *decoder) mapping(n *yaml.Node, path string, v reflect.Value, depth int) {
	if n.Kind != yaml.MappingNode {
		d.bad(n, path, "must be a mapping, not %s", describe(n))
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, p := range d.pairs(n, path, depth) {
		elem := reflect.New(v.Type().Elem()).Elem()
		d.value(p.value, Key(path, p.key.Value), elem, depth+1)
		v.SetMapIndex(reflect.ValueOf(p.key.Value).Convert(v.Type().Key()), elem)
	}
}

func (d *decoder) sequence(n *yaml.Node, path string, v reflect.Value, depth int) {
	if n.Kind != yaml.SequenceNode {
		d.bad(n, path, "must be a list, not %s", describe(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, c := range n.Content {
		d.value(c, Index(path, i), v.Index(i), depth+1)
	}
}

func (d *decoder) structure(n *yaml.Node, path string, v reflect.Value, depth int) {
	if n.Kind != yaml.MappingNode {
		d.bad(n, path, "must be a mapping, not %s", describe(n))
		return
	}
	fields, names := fieldsOf(v)
	for _, p := range d.pairs(n, path, depth) {
		f, ok := fields[p.key.Value]
		if !ok {
			d.bad(p.key, Key(path, p.key.Value), "unknown key%s", Suggest(p.key.Value, names))
			continue
		}
		d.value(p.value, Key(path, p.key.Value), f, depth+1)
	}
}

// scalar fills v from n where v is of a plain type.
func (d *decoder) scalar(n *yaml.Node, path string, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.bad(n, path, "must be %s, not %s", wanted(v.Type()), describe(n))
		return
	}
	tag := n.ShortTag()
	ok := false
	switch {
	case v.Type() == durationType:
		var t time.Duration
		if t, ok = parseDuration(n.Value); ok {
			v.SetInt(int64(t))
		}
	case v.Kind() == reflect.String:
		if ok = tag != "!!bool"; ok {
			v.SetString(n.Value)
		}
	case v.Kind() == reflect.Bool:
		if ok = tag == "!!bool"; ok {
			v.SetBool(n.Value[0] == 't' || n.Value[0] == 'T')
		}
	case v.CanInt():
		var i int64
		if ok = tag == "!!int" && n.Decode(&i) == nil && !v.OverflowInt(i); ok {
			v.SetInt(i)
		}
	case v.CanFloat():
		var f float64
		if ok = (tag == "!!int" || tag == "!!float") && n.Decode(&f) == nil; ok {
			v.SetFloat(f)
		}
	default:
		panic("BUG: yamlstrict cannot decode into " + v.Type().String())
	}
	if !ok {
		d.bad(n, path, "must be %s, not %s", wanted(v.Type()), describe(n))
	}
}

func parseDuration(s string) (time.Duration, bool) {
	t, err := time.ParseDuration(s)
	return t, err == nil && t >= 0
}

func wanted(t reflect.Type) string {
	switch {
	case t == durationType:
		return "a duration such as 30s or 5m"
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	v := n.Value
	if len(v) > 60 {
		v = v[:60] + "..."
	}
	return strconv.Quote(v)
}
