package grammar

// types is a set of JSON types.
type types uint8

const (
	jsonObject types = 1 << iota
	jsonArray
	jsonString
	jsonInteger
	jsonFraction // a number that is no integer
	jsonBoolean
	jsonNull

	jsonNumber = jsonInteger | jsonFraction
	jsonAny    = 1<<7 - 1
)

// typeNames are the types by their names in schemas.
var typeNames = map[string]types{
	"object": jsonObject, "array": jsonArray, "string": jsonString, "integer": jsonInteger, "number": jsonNumber,
	"boolean": jsonBoolean, "null": jsonNull,
}

// keywords are those that say more about one type.
var keywords = map[string]types{
	"properties": jsonObject, "required": jsonObject, "additionalProperties": jsonObject, "unevaluatedProperties": jsonObject,
	"patternProperties": jsonObject, "propertyNames": jsonObject, "minProperties": jsonObject, "maxProperties": jsonObject,

	"items": jsonArray, "prefixItems": jsonArray, "additionalItems": jsonArray, "unevaluatedItems": jsonArray, "minItems": jsonArray,
	"maxItems": jsonArray, "uniqueItems": jsonArray, "contains": jsonArray, "minContains": jsonArray, "maxContains": jsonArray,

	"minLength": jsonString, "maxLength": jsonString, "pattern": jsonString, "format": jsonString,

	"minimum": jsonNumber, "maximum": jsonNumber, "exclusiveMinimum": jsonNumber, "exclusiveMaximum": jsonNumber, "multipleOf": jsonNumber,
}

// allowed returns the types that a schema lets through, at most.
func allowed(v *value) types {
	if list := literalsOf(v); list != nil {
		k := types(0)
		for _, one := range list {
			k |= kindOf(one)
		}
		return k
	}
	k, _ := typesOf(v.get("type"))
	if k == 0 {
		return jsonAny
	}
	return k
}

// typesOf returns the types that the keyword type lists, 0 if it is absent, and
// false if it is malformed.
func typesOf(v *value) (types, bool) {
	if v == nil {
		return 0, true
	}
	list := v.list
	if v.kind != '[' {
		list = []*value{v}
	}
	k := types(0)
	for _, one := range list {
		if one.kind != '"' || typeNames[one.text] == 0 {
			return 0, false
		}
		k |= typeNames[one.text]
	}
	return k, k != 0
}

// kindOf returns the type of a value. A number's may be both, to be safe.
func kindOf(v *value) types {
	switch v.kind {
	case '{':
		return jsonObject
	case '[':
		return jsonArray
	case '"':
		return jsonString
	case 't', 'f':
		return jsonBoolean
	case 'n':
		return jsonNull
	}
	if isInteger(v.text) {
		return jsonInteger
	}
	return jsonFraction
}

func badType(path string) error {
	return bad(join(path, "type"), "it is object, array, string, number, integer, boolean, null, or a list of these")
}

// typed is what fits a schema that speaks of types. Without the keyword, those
// are the types that its other keywords are about; a schema that says nothing
// lets everything through.
func (s *schema) typed(path string, v *value) (*expr, error) {
	k, ok := typesOf(v.get("type"))
	if !ok {
		return nil, badType(path)
	}
	if !v.has("type") {
		for _, m := range v.members {
			k |= keywords[m.name]
		}
		if k == 0 {
			return s.rule("value"), nil
		}
	}
	var list []*expr
	for _, one := range []struct {
		types types
		make  func(path string, v *value) (*expr, error)
	}{
		{jsonObject, s.object}, {jsonArray, s.array}, {jsonString, s.text}, {jsonNumber, s.number},
	} {
		if k&one.types == 0 {
			continue
		}
		if one.types == jsonNumber && k&jsonFraction == 0 {
			one.make = s.integer
		}
		e, err := one.make(path, v)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	if k&jsonBoolean != 0 {
		list = append(list, s.rule("boolean"))
	}
	if k&jsonNull != 0 {
		list = append(list, s.rule("null"))
	}
	return alt(list...), nil
}

// size reads a keyword that counts; def is what it means if it is absent.
func size(path string, v *value, name string, def int) (int, error) {
	one := v.get(name)
	if one == nil {
		return def, nil
	}
	n, ok := decimalOf(one)
	if !ok || n.negative && !n.isZero() || n.fraction != "" || len(n.whole) > 7 || n.int() > maxCount {
		return 0, bad(join(path, name), "it is an integer from 0 to %d", maxCount)
	}
	return n.int(), nil
}

// sizes reads a pair of such keywords; noMax is no bound.
func sizes(path string, v *value, low, high string) (from, to int, err error) {
	if from, err = size(path, v, low, 0); err != nil {
		return 0, 0, err
	}
	if to, err = size(path, v, high, noMax); err != nil {
		return 0, 0, err
	}
	if to != noMax && to < from {
		return 0, 0, bad(join(path, high), "it is less than %s", low)
	}
	return from, to, nil
}
