package grammar

import "slices"

// object is what fits a schema of objects. Where the schema names properties
// there are no others, and they come in its order.
func (s *schema) object(path string, v *value) (*expr, error) {
	for _, name := range []string{"patternProperties", "propertyNames"} {
		if v.has(name) {
			return nil, bad(join(path, name), "it cannot be enforced")
		}
	}
	props, err := s.properties(path, v)
	if err != nil {
		return nil, err
	}
	required := 0
	for _, p := range props {
		if p.required {
			required++
		}
	}
	low, high, err := sizes(path, v, "minProperties", "maxProperties")
	switch {
	case err != nil:
		return nil, err
	case low > required:
		return nil, bad(join(path, "minProperties"), "it cannot be enforced")
	case high != noMax && (high < len(props) || len(props) == 0 && !closed(v)):
		return nil, bad(join(path, "maxProperties"), "it cannot be enforced")
	case len(props) > 0:
		return s.members(path, props), nil
	case closed(v):
		return seq(lit("{"), s.rule("ws"), lit("}")), nil
	}
	name, rest := extra(v)
	if rest == nil || rest.is("true") {
		return s.rule("object"), nil
	}
	e, err := s.value(join(path, name), rest)
	if err != nil {
		return nil, err
	}
	pair := s.named(path, seq(s.rule("string"), lit(":"), opt(lit(" ")), e))
	return s.listed("{", pair, "}", 0, noMax), nil
}

// extra returns what a schema says of properties that it does not name, and the
// keyword.
func extra(v *value) (string, *value) {
	for _, name := range []string{"additionalProperties", "unevaluatedProperties"} {
		if e := v.get(name); e != nil {
			return name, e
		}
	}
	return "", nil
}

func closed(v *value) bool {
	_, e := extra(v)
	return e.is("false")
}

// property is a property that a schema names.
type property struct {
	name     string
	required bool
	value    *expr
}

func (s *schema) properties(path string, v *value) ([]property, error) {
	named, required := v.get("properties"), v.get("required")
	if named != nil && named.kind != '{' {
		return nil, bad(join(path, "properties"), "it is an object of schemas")
	}
	var must []string
	if required != nil {
		for i, one := range required.list {
			if one.kind != '"' {
				return nil, bad(element(join(path, "required"), i), "it is the name of a property")
			}
			must = append(must, one.text)
		}
		if required.kind != '[' {
			return nil, bad(join(path, "required"), "it is a list of names")
		}
	}
	var props []property
	seen := map[string]bool{}
	if named != nil {
		for _, m := range named.members {
			e, err := s.value(join(join(path, "properties"), m.name), m.value)
			if err != nil {
				return nil, err
			}
			props = append(props, property{m.name, slices.Contains(must, m.name), e})
			seen[m.name] = true
		}
	}
	name, rest := extra(v)
	for i, one := range must {
		if seen[one] {
			continue
		}
		seen[one] = true
		if rest.is("false") {
			return nil, bad(element(join(path, "required"), i), "%s is false, and properties lacks it", name)
		}
		e := s.rule("value")
		if rest != nil {
			var err error
			if e, err = s.value(join(path, name), rest); err != nil {
				return nil, err
			}
		}
		props = append(props, property{one, true, e})
	}
	return props, nil
}

// members is an object of these properties. Those that may be left out before
// any is there make two ways to go on, with a comma and without: both are rules,
// so that nothing is written twice.
func (s *schema) members(path string, props []property) *expr {
	ws := s.rule("ws")
	leading := slices.IndexFunc(props, func(p property) bool { return p.required }) // may be left out before that
	if leading < 0 {
		leading = len(props)
	}
	var heads, tail []*expr // how an object may begin; what comes behind a property, in reverse
	for i, p := range slices.Backward(props) {
		pair := seq(quoted(p.name), lit(":"), opt(lit(" ")), p.value)
		if i <= leading {
			rest := seq(reversed(tail)...)
			if leading > 0 {
				pair, rest = s.named(path, pair), s.named(path, rest)
			}
			heads = append(heads, seq(pair, rest))
			tail = []*expr{rest}
		}
		next := seq(lit(","), ws, pair)
		if !p.required {
			next = opt(next)
		}
		tail = append(tail, next)
	}
	all := seq(alt(heads...), ws)
	if leading == len(props) {
		all = opt(all)
	}
	return seq(lit("{"), ws, all, lit("}"))
}

func reversed(list []*expr) []*expr {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// listed is a list of low to high times e, set apart by commas, in brackets.
func (s *schema) listed(open string, e *expr, end string, low, high int) *expr {
	ws := s.rule("ws")
	if high == 0 {
		return seq(lit(open), ws, lit(end))
	}
	more := high
	if high != noMax {
		more--
	}
	all := seq(e, rep(seq(lit(","), ws, e), max(low-1, 0), more), ws)
	if low == 0 {
		all = opt(all)
	}
	return seq(lit(open), ws, all, lit(end))
}
