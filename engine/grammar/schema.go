package grammar

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A SchemaError says which part of a schema cannot be kept, and why.
type SchemaError struct {
	Path string // such as properties.name.items; "" is the whole schema
	Why  string
}

func (e *SchemaError) Error() string {
	if e.Path == "" {
		return e.Why
	}
	return e.Path + ": " + e.Why
}

// Object returns the grammar of a JSON object.
func Object() *Grammar { return object }

var object = func() *Grammar {
	g, err := (&schema{}).compile(func(s *schema) (*expr, error) { return s.rule("json-object"), nil })
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return g
}()

// Schema returns the grammar of the documents of a JSON schema. Whatever it
// lets through fits the schema; of what fits it lets through most, in one form:
// members in the order of the schema and no others where it names some, and
// little white space. The error is a *SchemaError.
func Schema(data []byte) (*Grammar, error) {
	if len(data) > maxSchema {
		return nil, &SchemaError{Why: fmt.Sprintf("it is longer than %d bytes", maxSchema)}
	}
	root, err := readJSON(data)
	if err != nil {
		return nil, &SchemaError{Why: err.Error()}
	}
	s := &schema{root: root, refs: map[*value]*expr{}}
	g, err := s.compile(func(s *schema) (*expr, error) { return s.value("", root) })
	var rule *RuleError
	switch {
	case errors.As(err, &rule) && rule.Why == beginsWithItself:
		return nil, &SchemaError{Path: rule.Rule, Why: "it refers to itself, and to nothing else"}
	case errors.As(err, &rule):
		return nil, &SchemaError{Path: rule.Rule, Why: "no document fits it"}
	case errors.Is(err, errTooLarge):
		return nil, &SchemaError{Why: "it is too large"}
	}
	return g, err
}

// schema is a schema on its way to become rules. Rules made of parts of the
// schema are named by their paths.
type schema struct {
	root  *value
	rules rules
	names map[string]*expr // of the prelude
	refs  map[*value]*expr // rules of what is referred to
	later []later

	count    int // schemas so far
	compared int // for oneOf
	patterns int // parts of regular expressions
}

// later is a rule whose expression is still to be made.
type later struct {
	rule  *expr
	path  string
	value *value
}

func (s *schema) compile(root func(*schema) (*expr, error)) (*Grammar, error) {
	s.names = map[string]*expr{}
	first := s.rules.add("")
	s.rules.exprs[first.rule] = empty // until it is known
	if err := parseRules(&s.rules, s.names, prelude); err != nil {
		return nil, err
	}
	e, err := root(s)
	if err != nil {
		return nil, err
	}
	s.rules.exprs[first.rule] = e
	for len(s.later) > 0 {
		l := s.later[0]
		s.later = s.later[1:]
		if s.rules.exprs[l.rule.rule], err = s.value(l.path, l.value); err != nil {
			return nil, err
		}
	}
	return compile(&s.rules)
}

// rule returns a rule of the prelude.
func (s *schema) rule(name string) *expr { return s.names[name] }

// named makes a rule of e, which is then used more than once.
func (s *schema) named(path string, e *expr) *expr {
	r := s.rules.add(path)
	s.rules.exprs[r.rule] = e
	return r
}

// join returns the path of a part.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func bad(path, format string, args ...any) error {
	return &SchemaError{Path: path, Why: fmt.Sprintf(format, args...)}
}

// notKept are keywords that no grammar can keep, whatever the type.
var notKept = []string{
	"not", "if", "then", "else", "dependencies", "dependentRequired", "dependentSchemas", "$dynamicRef", "$recursiveRef",
}

// apart are keywords that stand alone: beside them others but annotations are
// not understood.
var apart = []string{"$ref", "anyOf", "oneOf", "allOf"}

// value is what fits the schema v.
func (s *schema) value(path string, v *value) (*expr, error) {
	if s.count++; s.count > maxSchemas {
		return nil, errTooLarge
	}
	switch {
	case v.is("true"):
		return s.rule("value"), nil
	case v.is("false"):
		return nil, bad(path, "nothing fits false")
	case v.kind != '{':
		return nil, bad(path, "a schema is an object or a boolean")
	}
	for _, name := range notKept {
		if v.has(name) {
			return nil, bad(join(path, name), "it cannot be enforced")
		}
	}
	for _, name := range apart {
		if !v.has(name) {
			continue
		}
		if err := s.alone(path, name, v); err != nil {
			return nil, err
		}
		if name == "$ref" {
			return s.ref(join(path, name), v.get(name))
		}
		return s.combined(path, name, v.get(name))
	}
	if v.has("enum", "const") {
		return s.literals(path, v)
	}
	return s.typed(path, v)
}

// alone checks that v has no other keyword that says what fits.
func (s *schema) alone(path, name string, v *value) error {
	for _, m := range v.members {
		if m.name != name && (slices.Contains(apart, m.name) || slices.Contains([]string{"type", "enum", "const"}, m.name) || keywords[m.name] != 0) {
			return bad(join(path, m.name), "it cannot be enforced beside %s", name)
		}
	}
	return nil
}

// ref is what the reference v points at.
func (s *schema) ref(path string, v *value) (*expr, error) {
	target, at, err := s.target(path, v)
	if err != nil {
		return nil, err
	}
	rule, ok := s.refs[target]
	if !ok {
		rule = s.named(at, empty)
		s.refs[target] = rule
		s.later = append(s.later, later{rule, at, target})
	}
	return rule, nil
}

// target returns what a reference within the schema points at, and its path.
func (s *schema) target(path string, v *value) (*value, string, error) {
	pointer, ok := strings.CutPrefix(v.text, "#")
	if v.kind != '"' || !ok || pointer != "" && pointer[0] != '/' {
		return nil, "", bad(path, "only references to parts of this schema are known, such as #/$defs/name")
	}
	if pointer == "" {
		return s.root, "", nil
	}
	if plain, err := url.PathUnescape(pointer); err == nil {
		pointer = plain
	}
	at, found := s.root, ""
	for name := range strings.SplitSeq(pointer[1:], "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(at.list) {
			at, found = at.list[i], element(found, i)
		} else if at, found = at.get(name), join(found, name); at == nil {
			return nil, "", bad(path, "it points at nothing")
		}
	}
	return at, found, nil
}
