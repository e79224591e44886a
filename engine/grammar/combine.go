package grammar

import "slices"

// combined is what fits the list v of schemas: one of them for anyOf and
// oneOf, all for allOf.
func (s *schema) combined(path, name string, v *value) (*expr, error) {
	path = join(path, name)
	switch {
	case v.kind != '[' || len(v.list) == 0:
		return nil, bad(path, "it is a list of schemas")
	case name == "allOf" && len(v.list) > 1:
		return nil, bad(path, "more than one schema cannot be enforced")
	case name == "oneOf" && !s.apart(v.list):
		return nil, bad(path, "it cannot be enforced where a document may fit two of its schemas: use anyOf")
	}
	var list []*expr
	for i, one := range v.list {
		e, err := s.value(element(path, i), one)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return alt(list...), nil
}

// maxCompared bounds the comparisons for one schema.
const maxCompared = 100_000

// apart reports whether no document fits two of the schemas, as far as their
// types, their literals or a property that tells objects apart show it.
func (s *schema) apart(list []*value) bool {
	for i, a := range list {
		for _, b := range list[:i] {
			if s.compared++; s.compared > maxCompared || !s.disjoint(a, b) {
				return false
			}
		}
	}
	return true
}

func (s *schema) disjoint(a, b *value) bool {
	a, b = s.resolved(a), s.resolved(b)
	if a == nil || b == nil {
		return false
	}
	if allowed(a)&allowed(b) == 0 {
		return true
	}
	if la, lb := literalsOf(a), literalsOf(b); la != nil && lb != nil {
		return s.noneIn(la, lb)
	}
	if allowed(a) != jsonObject || allowed(b) != jsonObject {
		return false
	}
	pa := a.get("properties")
	if pa == nil {
		return false
	}
	for _, m := range pa.members {
		s.compared++
		if !requires(a, m.name) || !requires(b, m.name) || b.get("properties") == nil {
			continue
		}
		other := b.get("properties").get(m.name)
		if other == nil {
			continue
		}
		if la, lb := literalsOf(m.value), literalsOf(other); la != nil && lb != nil && s.noneIn(la, lb) {
			return true
		}
	}
	return false
}

// resolved returns the schema that v stands for; nil if that is not found soon.
func (s *schema) resolved(v *value) *value {
	for range 10 {
		to := v.get("$ref")
		if to == nil {
			return v
		}
		var err error
		if v, _, err = s.target("", to); err != nil {
			return nil
		}
	}
	return nil
}

func requires(v *value, name string) bool {
	list := v.get("required")
	return list != nil && slices.ContainsFunc(list.list, func(one *value) bool { return one.kind == '"' && one.text == name })
}

// literalsOf returns the values that a schema lists; nil if it lists none.
func literalsOf(v *value) []*value {
	if one := v.get("const"); one != nil {
		return []*value{one}
	}
	if all := v.get("enum"); all != nil {
		return all.list
	}
	return nil
}

// noneIn reports whether none of the literals a is among b.
func (s *schema) noneIn(a, b []*value) bool {
	seen := map[string]bool{}
	for _, v := range a {
		seen[string(v.appendJSON(nil))] = true
	}
	s.compared += len(a) + len(b)
	return !slices.ContainsFunc(b, func(v *value) bool { return seen[string(v.appendJSON(nil))] })
}

// literals are the values of enum and const, as far as the type lets them
// through.
func (s *schema) literals(path string, v *value) (*expr, error) {
	name := "enum"
	if v.has("const") {
		name = "const"
	} else if list := v.get("enum"); list.kind != '[' || len(list.list) == 0 {
		return nil, bad(join(path, name), "it is a list of values")
	}
	for _, m := range v.members {
		if keywords[m.name] != 0 || m.name != name && (m.name == "enum" || m.name == "const") {
			return nil, bad(join(path, m.name), "it cannot be enforced beside %s", name)
		}
	}
	k, ok := typesOf(v.get("type"))
	if !ok {
		return nil, badType(path)
	}
	var list []string
	for _, one := range literalsOf(v) {
		if k == 0 || kindOf(one)&k != 0 {
			list = append(list, string(one.appendJSON(nil)))
		}
	}
	if len(list) == 0 {
		return nil, bad(join(path, name), "no value has the type")
	}
	slices.Sort(list)
	return oneOf(slices.Compact(list)), nil
}

// oneOf is one of the texts, which are sorted and distinct. What they begin with
// together is there once, so that there is one way to read it.
func oneOf(texts []string) *expr {
	first, last := texts[0], texts[len(texts)-1]
	n := common([]byte(first), []byte(last))
	if len(texts) == 1 {
		return lit(first)
	}
	var list []*expr
	for len(texts) > 0 {
		if len(texts[0]) == n {
			list = append(list, empty)
			texts = texts[1:]
			continue
		}
		group := slices.IndexFunc(texts, func(s string) bool { return s[n] != texts[0][n] })
		if group < 0 {
			group = len(texts)
		}
		var rest []string
		for _, s := range texts[:group] {
			rest = append(rest, s[n:])
		}
		list = append(list, oneOf(rest))
		texts = texts[group:]
	}
	return seq(lit(first[:n]), alt(list...))
}
