package grammar

// array is what fits a schema of arrays.
func (s *schema) array(path string, v *value) (*expr, error) {
	for _, name := range []string{"contains", "minContains", "maxContains", "unevaluatedItems"} {
		if v.has(name) {
			return nil, bad(join(path, name), "it cannot be enforced")
		}
	}
	if unique := v.get("uniqueItems"); unique != nil && !unique.is("false") {
		return nil, bad(join(path, "uniqueItems"), "it cannot be enforced")
	}
	low, high, err := sizes(path, v, "minItems", "maxItems")
	if err != nil {
		return nil, err
	}
	first, rest, restPath := firstItems(path, v)
	if first.kind != '[' {
		return nil, bad(join(path, "prefixItems"), "it is a list of schemas")
	}
	if rest.is("false") || high != noMax && high <= len(first.list) {
		rest = nil
		if high == noMax || high > len(first.list) {
			high = len(first.list)
		}
		if low > high {
			return nil, bad(join(path, "minItems"), "there cannot be so many")
		}
	} else if rest == nil {
		rest = &value{kind: 't', text: "true"}
	}
	var item *expr
	if rest != nil {
		if item, err = s.value(restPath, rest); err != nil {
			return nil, err
		}
		item = s.named(restPath, item) // it is written twice
	}
	if len(first.list) == 0 {
		return s.listed("[", item, "]", low, high), nil
	}
	return s.tuple(path, first, item, low, high)
}

// firstItems returns the schemas of the first items, and that of those behind
// them, in the newer form or in the older one.
func firstItems(path string, v *value) (first, rest *value, restPath string) {
	first, rest, restPath = v.get("prefixItems"), v.get("items"), join(path, "items")
	if rest != nil && rest.kind == '[' {
		first, rest, restPath = rest, v.get("additionalItems"), join(path, "additionalItems")
	}
	if first == nil {
		first = &value{kind: '['}
	}
	return first, rest, restPath
}

// tuple is an array whose first items have schemas of their own.
func (s *schema) tuple(path string, first *value, item *expr, low, high int) (*expr, error) {
	comma := seq(lit(","), s.rule("ws"))
	tail := empty
	n := len(first.list)
	if item != nil {
		more := noMax
		if high != noMax {
			more = high - n
		}
		tail = rep(seq(comma, item), max(low-n, 0), more)
	}
	name := "prefixItems"
	for i := n - 1; i >= 0; i-- {
		one, err := s.value(element(join(path, name), i), first.list[i])
		if err != nil {
			return nil, err
		}
		if high != noMax && i >= high {
			continue
		}
		if tail = seq(one, tail); i > 0 {
			tail = seq(comma, tail)
		}
		if i >= low {
			tail = opt(tail)
		}
	}
	return seq(lit("["), s.rule("ws"), tail, s.rule("ws"), lit("]")), nil
}
