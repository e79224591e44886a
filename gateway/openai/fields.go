package openai

import (
	"errors"
	"math"
	"strconv"

	"dragoman/adapters/jsonscan"
)

// The readers of top-level members give a zero value for what is absent or
// null, and note an error for a wrong type.

func (p *parser) boolean(name string) bool {
	value := p.value(name)
	if value == nil {
		return false
	}
	on, ok := boolean(value)
	if !ok {
		p.fail(wrongType(name, "a boolean", value))
	}
	return on
}

func boolean(value []byte) (on, ok bool) {
	on = string(value) == "true"
	return on, on || string(value) == "false"
}

func (p *parser) text(name string) string {
	value := p.value(name)
	if value == nil {
		return ""
	}
	text, ok := jsonscan.Unquote(value)
	if !ok {
		p.fail(wrongType(name, "a string", value))
	}
	return text
}

// integer returns the member's value, and whether it is there and within
// bounds. An integral decimal such as 256.0 is an integer.
func (p *parser) integer(name string, low, high int64) (int64, bool) {
	value := p.value(name)
	if value == nil {
		return 0, false
	}
	n, err := parseInteger(value)
	switch {
	case errors.Is(err, errNotInteger):
		p.fail(wrongType(name, "an integer", value))
	case err != nil && value[0] == '-', err == nil && n < low:
		p.fail(outOfRange(name, "integer", "below minimum", ">= "+strconv.FormatInt(low, 10), value))
	case err != nil, n > high:
		p.fail(outOfRange(name, "integer", "above maximum", "<= "+strconv.FormatInt(high, 10), value))
	default:
		return n, true
	}
	return 0, false
}

// decimal returns the member's value, and whether it is there and within
// bounds.
func (p *parser) decimal(name string, low, high float64) (float64, bool) {
	value := p.value(name)
	if value == nil {
		return 0, false
	}
	x, ok := parseDecimal(value)
	switch {
	case !ok:
		p.fail(wrongType(name, "a number", value))
	case x < low:
		p.fail(outOfRange(name, "decimal", "below minimum", ">= "+formatDecimal(low), value))
	case x > high:
		p.fail(outOfRange(name, "decimal", "above maximum", "<= "+formatDecimal(high), value))
	default:
		return x, true
	}
	return 0, false
}

// parseDecimal reads a JSON number. One beyond a float64 is infinite.
func parseDecimal(value []byte) (float64, bool) {
	if !isNumber(value) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(value), 64)
	return x, err == nil || math.IsInf(x, 0)
}

func formatDecimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// object returns the JSON text of a member that must be an object.
func (p *parser) object(name string) []byte {
	value := p.value(name)
	if value != nil && value[0] != '{' {
		p.fail(wrongType(name, "an object", value))
		return nil
	}
	return value
}

// array returns the JSON text of a member that must be an array of what.
func (p *parser) array(name, what string) []byte {
	value := p.value(name)
	if value != nil && value[0] != '[' {
		p.fail(wrongType(name, "an array of "+what, value))
		return nil
	}
	return value
}

// each calls f with the members of an object at path.
func (p *parser) each(path string, object []byte, f func(name, value []byte) error) {
	if err := each(path, object, f); err != nil {
		p.fail(err)
	}
}

func each(path string, object []byte, f func(name, value []byte) error) error {
	return badObject(path, jsonscan.Each(object, f))
}
