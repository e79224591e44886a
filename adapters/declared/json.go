package declared

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"gopkg.in/yaml.v3"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
)

// toJSON returns what a YAML value says as JSON, mappings in their order.
func toJSON(dst []byte, n *yaml.Node, depth int) ([]byte, error) {
	if depth > 32 {
		return dst, fmt.Errorf("nested too deeply")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return toJSON(dst, n.Alias, depth+1)
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, c := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			var err error
			if dst, err = toJSON(dst, c, depth+1); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	case yaml.MappingNode:
		dst = append(dst, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(adapters.AppendString(dst, n.Content[i].Value), ':')
			var err error
			if dst, err = toJSON(dst, n.Content[i+1], depth+1); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	}
	return scalarJSON(dst, n)
}

func scalarJSON(dst []byte, n *yaml.Node) ([]byte, error) {
	switch n.ShortTag() {
	case "!!null":
		return append(dst, "null"...), nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return strconv.AppendBool(dst, b), err
	case "!!int", "!!float":
		// Where YAML's spelling is JSON's too, it stays as it is.
		if jsonscan.Valid([]byte(n.Value), 1) == nil {
			return append(dst, n.Value...), nil
		}
		var f float64
		if err := n.Decode(&f); err != nil {
			return dst, err
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return dst, fmt.Errorf("%s is no JSON number", n.Value)
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 64), nil
	}
	return adapters.AppendString(dst, n.Value), nil
}

// condition compares the value at a place with a list of values.
type condition struct {
	slot   int // in the finder's result
	values [][]byte
	not    bool
}

// met reports whether the condition holds; a value that is not there is null.
func (c *condition) met(found [][]byte) bool {
	if c == nil {
		return false
	}
	value := found[c.slot]
	if len(value) == 0 {
		value = []byte("null")
	}
	for _, v := range c.values {
		if same(value, v) {
			return !c.not
		}
	}
	return c.not
}

// same reports whether two JSON scalars mean the same.
func same(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	if a[0] == '"' || b[0] == '"' {
		return a[0] == b[0] && adapters.Text(a) == adapters.Text(b)
	}
	x, err := strconv.ParseFloat(string(a), 64)
	if err != nil {
		return false
	}
	y, err := strconv.ParseFloat(string(b), 64)
	return err == nil && x == y
}
