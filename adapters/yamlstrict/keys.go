package yamlstrict

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

type pair struct{ key, value *yaml.Node }

// pairs returns n's keys and values with merge keys expanded: a key of n's own
// wins over a merged one, and an earlier merge over a later one.
func (d *decoder) pairs(n *yaml.Node, path string, depth int) []pair {
	var own []pair
	var merges []*yaml.Node
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.ShortTag() == "!!merge":
			merges = append(merges, v)
		case k.Kind != yaml.ScalarNode:
			d.bad(k, path, "has a key that is %s; keys are plain words", describe(k))
		case seen[k.Value] > 0:
			d.bad(k, Key(path, k.Value), "written twice, first in line %d", seen[k.Value])
		default:
			seen[k.Value] = k.Line
			own = append(own, pair{k, v})
		}
	}
	for _, m := range merges {
		for _, p := range d.merged(m, path, depth+1) {
			if _, ok := seen[p.key.Value]; !ok {
				seen[p.key.Value] = p.key.Line
				own = append(own, p)
			}
		}
	}
	return own
}

func (d *decoder) merged(n *yaml.Node, path string, depth int) []pair {
	d.nodes++
	if depth > maxDepth || d.nodes > maxNodes {
		d.bad(n, path, "merges itself, or too much")
		return nil
	}
	switch n.Kind {
	case yaml.AliasNode:
		return d.merged(n.Alias, path, depth+1)
	case yaml.MappingNode:
		return d.pairs(n, path, depth)
	case yaml.SequenceNode:
		var all []pair
		for _, c := range n.Content {
			all = append(all, d.merged(c, path, depth+1)...)
		}
		return all
	}
	d.bad(n, path, "<< must be a mapping, not %s", describe(n))
	return nil
}

// fieldsOf returns v's fields by key, and the keys in the order of the type.
func fieldsOf(v reflect.Value) (map[string]reflect.Value, []string) {
	fields := map[string]reflect.Value{}
	var names []string
	for i := range v.NumField() {
		name, option, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			inner, keys := fieldsOf(v.Field(i))
			for _, k := range keys {
				fields[k] = inner[k]
			}
			names = append(names, keys...)
		case name != "" && name != "-":
			fields[name] = v.Field(i)
			names = append(names, name)
		}
	}
	return fields, names
}

// Key returns the path of key below path. Keys that are not plain words are
// quoted: models."ollama/*".
func Key(path, key string) string {
	plain := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return !(r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	if !plain {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Index returns the path of the list element i below path.
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// Suggest returns the words that follow a wrong choice in a message: the near
// one if there is one, and all that are valid:
//
//	, did you mean "framing"? (valid: framing, send, read)
func Suggest(got string, valid []string) string {
	best, distance := "", 3
	for _, v := range valid {
		if d := editDistance(strings.ToLower(got), v); d < distance && d < len(v) {
			best, distance = v, d
		}
	}
	s := " (valid: " + strings.Join(valid, ", ") + ")"
	if best != "" {
		s = fmt.Sprintf(", did you mean %q?", best) + s
	}
	return s
}

// editDistance is Levenshtein's, in bytes; words longer than 64 are far from all.
func editDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
