package config

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"dragoman/adapters"
	"dragoman/adapters/yamlstrict"
)

// environment puts variables into a document and remembers where, so that
// messages can show what was written instead.
type environment struct {
	lookup func(string) (string, bool)
	values map[string]string // expanded value -> as written
	lines  map[int][]string  // line -> the expanded values in it
}

func newEnvironment() *environment {
	return &environment{lookup: os.LookupEnv, values: map[string]string{}, lines: map[int][]string{}}
}

// expand replaces the variables in all values below n, which stands at path.
// Aliases are not followed: what they name is met where it is written.
func (e *environment) expand(n *yaml.Node, path string, bad func(path, format string, args ...any)) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			e.expand(n.Content[i+1], yamlstrict.Key(path, n.Content[i].Value), bad)
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			e.expand(c, yamlstrict.Index(path, i), bad)
		}
	case yaml.ScalarNode:
		if !strings.Contains(n.Value, "${") {
			return
		}
		value, err := e.text(n.Value)
		if err != nil {
			bad(path, "%s: %v", quote(n.Value), err)
			return
		}
		e.values[value] = n.Value
		e.lines[n.Line] = append(e.lines[n.Line], value)
		n.Value = value
		if n.Style == 0 { // unquoted: it may be a number or a boolean now
			n.Tag = ""
			if n.ShortTag() == "!!null" {
				n.Tag = "!!str"
			}
		}
	}
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// text replaces each ${NAME} in s; $${ is a literal ${.
func (e *environment) text(s string) (string, error) {
	var out strings.Builder
	for {
		i := strings.Index(s, "${")
		if i < 0 {
			out.WriteString(s)
			return out.String(), nil
		}
		if i > 0 && s[i-1] == '$' {
			out.WriteString(s[:i-1])
			out.WriteString("${")
			s = s[i+2:]
			continue
		}
		out.WriteString(s[:i])
		name, rest, closed := strings.Cut(s[i+2:], "}")
		if !closed {
			return "", fmt.Errorf("${ has no closing }; write $${ for a literal ${")
		}
		if !variableName.MatchString(name) {
			return "", fmt.Errorf("${%s} names no environment variable; only ${NAME} is known", name)
		}
		value, ok := e.lookup(name)
		if !ok {
			return "", fmt.Errorf("environment variable %s is not set", name)
		}
		if value == "" {
			return "", fmt.Errorf("environment variable %s is empty", name)
		}
		out.WriteString(value)
		s = rest
	}
}

// shown returns a value for a message: as it was written, quoted and bounded.
func (e *environment) shown(value string) string {
	if written, ok := e.values[value]; ok {
		value = written
	}
	return quote(value)
}

// hide cuts an expanded value out of another package's message about line.
func (e *environment) hide(line int, msg string) string {
	for _, value := range e.lines[line] {
		// Messages show the beginning of a value, quoted.
		begin := strconv.Quote(strings.ToValidUTF8(value[:min(len(value), 20)], ""))
		if strings.Contains(msg, begin[:len(begin)-1]) {
			before, _, _ := strings.Cut(msg, ", not ")
			return before + ", not the value of " + quote(e.values[value])
		}
	}
	return msg
}

// quote returns s in quotes, bounded.
func quote(s string) string { return strconv.Quote(adapters.Clip(s, 80)) }
