package grammar

// text is what fits a schema of strings.
func (s *schema) text(path string, v *value) (*expr, error) {
	low, high, err := sizes(path, v, "minLength", "maxLength")
	if err != nil {
		return nil, err
	}
	inside := rep(s.rule("char"), low, high)
	bounded := low > 0 || high != noMax
	if format := v.get("format"); format != nil {
		switch {
		case format.kind != '"' || !formats[format.text]:
			return nil, bad(join(path, "format"), "it cannot be enforced")
		case bounded || v.has("pattern"):
			return nil, bad(join(path, "format"), "it cannot be enforced together with a pattern or a length")
		}
		inside = s.rule(format.text)
	}
	if one := v.get("pattern"); one != nil {
		if bounded {
			return nil, bad(join(path, "pattern"), "it cannot be enforced together with a length")
		}
		if inside, err = s.pattern(join(path, "pattern"), one); err != nil {
			return nil, err
		}
	}
	return seq(lit(`"`), inside, lit(`"`)), nil
}
