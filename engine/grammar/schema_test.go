package grammar

import (
	"errors"
	"strings"
	"testing"
)

func schemaOf(t *testing.T, text string) *Grammar {
	t.Helper()
	g, err := Schema([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return g
}

// TestSchemas holds schemas against documents, which are set apart by line feeds.
func TestSchemas(t *testing.T) {
	f := func(schema, good, bad string) {
		t.Helper()
		g := schemaOf(t, schema)
		for _, doc := range strings.Split(good, "\n") {
			if doc = strings.TrimSpace(doc); !matches(g, doc) {
				t.Errorf("%s refuses %s", schema, doc)
			}
		}
		for _, doc := range strings.Split(bad, "\n") {
			if doc = strings.TrimSpace(doc); matches(g, doc) {
				t.Errorf("%s takes %s", schema, doc)
			}
		}
	}
	f(`{}`, `{"a":[1,-2.5e+9,"x",true,null,{}]}
		[]
		"\ud83d\ude00\u00e9\n"`, `{a:1}
		[1,]
		01
		1e999
		"\ud83d"
		"\u12"
		tru
		`)
	f(`true`, `1`, `x`)
	f(`{"type":"object"}`, `{}
		{"a":{"b":[]}}`, `[]
		1`)
	f(`{"type":"object","additionalProperties":false}`, `{}`, `{"a":1}`)
	f(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a","b"],"additionalProperties":false}`,
		`{"a":1,"b":""}
		{"a": 1, "b": "x"}`, `{"b":"","a":1}
		{"a":1}
		{"a":1,"b":"","c":1}
		{"a":1,"b":"",}
		{"a":"1","b":""}
		{}`)
	f(`{"properties":{"a":{},"b":{},"c":{}},"required":["b"]}`, `{"b":1}
		{"a":1,"b":1}
		{"b":1,"c":1}
		{"a":1,"b":1,"c":1}`, `{}
		{"a":1}
		{"c":1}
		{"b":1,"a":1}
		{,"b":1}`)
	f(`{"properties":{"a":{},"b":{},"c":{}}}`, `{}
		{"a":1}
		{"b":1}
		{"c":1}
		{"a":1,"c":1}
		{"b":1,"c":1}
		{"a":1,"b":1,"c":1}`, `{"c":1,"a":1}
		{"a":1,}
		{"d":1}`)
	f(`{"type":"object","additionalProperties":{"type":"boolean"}}`, `{}
		{"x":true,"y":false}`, `{"x":1}`)
	f(`{"type":"object","properties":{"a":{"type":"null"}},"required":["a","z"],"additionalProperties":{"type":"integer"}}`, `{"a":null,"z":3}`, `{"a":null}
		{"a":null,"z":""}`)
	f(`{"properties":{"a\"é\n":{"const":1}},"required":["a\"é\n"]}`, `{"a\"é\n":1}`, `{"a":1}`)
	f(`{"type":"array"}`, `[]
		[1,"a",[[]]]`, `{}`)
	f(`{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3}`, `[1,2]
		[1, 2, 3]`, `[]
		[1]
		[1,2,3,4]
		[1,"a"]`)
	f(`{"items":{"const":1},"maxItems":1}`, `[]
		[1]`, `[1,1]`)
	f(`{"items":{"const":1},"maxItems":0}`, `[]`, `[1]`)
	f(`{"items":false}`, `[]`, `[1]`)
	f(`{"prefixItems":[{"const":1},{"const":2}],"items":{"const":3},"minItems":1}`, `[1]
		[1,2]
		[1,2,3,3,3]`, `[]
		[2]
		[1,3]
		[1,2,1]`)
	f(`{"prefixItems":[{"const":1},{"const":2}],"minItems":2,"maxItems":2}`, `[1,2]
		[1, 2]`, `[1]
		[1,2,3]`)
	f(`{"items":[{"const":1},{"const":2}],"additionalItems":false}`, `[]
		[1]
		[1,2]`, `[1,2,3]`)
	f(`{"prefixItems":[{"const":1}],"items":{"const":2},"minItems":3,"maxItems":3}`, `[1,2,2]`, `[1,2]
		[1,2,2,2]
		[1]`)
	f(`{"type":"string","minLength":2,"maxLength":3}`, `"ab"
		"aé😀"
		"\ud83d\ude00\n"`, `"a"
		"abcd"
		""`)
	f(`{"type":["string","null"],"maxLength":1}`, `null
		"a"`, `"ab"
		1`)
	f(`{"enum":["a",1,null,{"b":[2]},"é\""]}`, `"a"
		1
		null
		{"b":[2]}
		"é\""`, `"b"
		{"b": [2]}`)
	f(`{"type":"string","enum":["a",1]}`, `"a"`, `1`)
	f(`{"type":"integer","enum":[1.0,2.5,"x"]}`, `1.0`, `2.5`)
	f(`{"const":"x","description":"d"}`, `"x"`, `"y"`)
	f(`{"anyOf":[{"type":"string"},{"type":"null"}],"title":"t","default":null}`, `"x"
		null`, `1`)
	f(`{"oneOf":[{"type":"string"},{"type":"integer"},{"enum":[null,true]}]}`, `"x"
		1
		true`, `1.5`)
	f(`{"oneOf":[{"$ref":"#/$defs/c"},{"$ref":"#/$defs/d"}],"$defs":{
		"c":{"type":"object","properties":{"k":{"const":"c"}},"required":["k"]},"d":{"type":"object","properties":{"k":{"enum":["d","e"]}},"required":["k"]}}}`,
		`{"k":"c"}
		{"k":"e"}`, `{"k":"f"}`)
	f(`{"allOf":[{"type":"integer"}],"description":"d"}`, `1`, `"x"`)
	f(`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["v","next"],"additionalProperties":false}}}`,
		`{"v":1,"next":{"v":2,"next":null}}`, `{"v":1}
		{"v":1,"next":1}`)
	f(`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}},"required":["kids"]}`, `{"kids":[{"kids":[]},{"kids":[]}]}`, `{"kids":[1]}`)
	f(`{"$defs":{"a/b~c %":{"const":1},"l":[{"const":2}]},"anyOf":[{"$ref":"#/$defs/a~1b~0c%20%25"},{"$ref":"#/$defs/l/0"}]}`, "1\n2", "3")
	// What can never end is left out.
	f(`{"$defs":{"x":{"properties":{"x":{"$ref":"#/$defs/x"}},"required":["x"]}},"properties":{"x":{"$ref":"#/$defs/x"}}}`, `{}`, `{"x":{}}`)
	f(`{"anyOf":[{"items":{"$ref":"#"},"minItems":1},{"const":1}]}`, "1\n[1]\n[[1],1]", "[]")
	// Other keywords say nothing.
	f(`{"type":"integer","minLength":5,"x-order":[1],"title":"t","$schema":"s","examples":[1],"nullable":true}`, `1`, `""`)
	f(`{"type":"boolean"}`, "true\nfalse", "null\n0")
	f("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{}}},\"required\":[\"a\"]}", "{\"a\": [1, 2]}", "{\"a\":  [1]}\n{\"a\" :[1]}")
}

func TestWhiteSpaceIsBounded(t *testing.T) {
	g := schemaOf(t, `{"properties":{"a":{"items":{}}},"required":["a"]}`)
	for _, doc := range []string{"{\n  \"a\": [\n    1,\n    2\n  ]\n}", `{ "a": [ 1, 2 ] }`, "{\n\t\"a\": []}"} {
		if !matches(g, doc) {
			t.Errorf("refuses %q", doc)
		}
	}
	for _, doc := range []string{`{"a":[]} `, ` {"a":[]}`, "{\"a\":[]}\n", `{  "a":[]}`, "{\n\n\"a\":[]}", "{\n" + strings.Repeat(" ", 33) + "\"a\":[]}", `{"a":[1 ,2]}`} {
		if matches(g, doc) {
			t.Errorf("takes %q", doc)
		}
	}
}

func TestNumbers(t *testing.T) {
	f := func(schema, good, bad string) {
		t.Helper()
		g := schemaOf(t, schema)
		for _, n := range strings.Fields(good) {
			if !matches(g, n) {
				t.Errorf("%s refuses %s", schema, n)
			}
		}
		for _, n := range strings.Fields(bad) {
			if matches(g, n) {
				t.Errorf("%s takes %s", schema, n)
			}
		}
	}
	f(`{"type":"integer"}`, `0 -1 1234567890123456`, `01 1.0 1e2 12345678901234567 - +1`)
	f(`{"type":"number"}`, `0 -0.5 1e10 1.25E-07 -12`, `.5 5. 1e 1e999 00`)
	f(`{"type":"integer","minimum":0}`, `0 7 9999999999999999`, `-1 -0`)
	f(`{"type":"integer","minimum":18,"maximum":120}`, `18 19 20 99 100 119 120`, `17 121 1 200 018 -18`)
	f(`{"type":"integer","minimum":-5,"maximum":5}`, `-5 -1 0 5`, `-6 6 -0 10`)
	f(`{"type":"integer","minimum":-120,"maximum":-18}`, `-18 -99 -120`, `-17 -121 18 0`)
	f(`{"type":"integer","exclusiveMinimum":9,"exclusiveMaximum":12}`, `10 11`, `9 12 1`)
	f(`{"type":"integer","exclusiveMinimum":-2,"exclusiveMaximum":0}`, `-1`, `0 -2 -0`)
	f(`{"type":"integer","minimum":1.5,"maximum":3.9}`, `2 3`, `1 4`)
	f(`{"type":"integer","minimum":7,"maximum":7}`, `7`, `6 8 77`)
	f(`{"type":"integer","minimum":1e2,"maximum":100.0}`, `100`, `99 101`)
	f(`{"type":"integer","multipleOf":1}`, `3`, `3.5`)
	f(`{"type":"integer","maximum":1e30}`, `3 -9999999999999999`, `3.5`)
	f(`{"type":"integer","minimum":5,"exclusiveMinimum":true}`, `6`, `5`)
	f(`{"type":"integer","minimum":5,"exclusiveMinimum":false}`, `5`, `4`)
	f(`{"type":"number","minimum":0,"maximum":1}`, `0 0.5 1 1.0 0.0 1.000 0.9999`, `1.1 -0.1 2 1.01 1e0 -0`)
	f(`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.5 0.001 0.999`, `0 1 0.0 1.0 0.000`)
	f(`{"type":"number","minimum":0.25,"maximum":0.5}`, `0.25 0.3 0.5 0.250 0.500 0.49`, `0.2 0.24 0.51 0 0.501 0.6`)
	f(`{"type":"number","minimum":-1.5,"maximum":2.25}`, `-1.5 -1.25 -1 -0.1 0 1 1.99 2 2.2 2.25`, `-1.51 2.26 2.3 -2 3`)
	f(`{"type":"number","minimum":-2.25,"maximum":-1.5}`, `-1.5 -2 -2.25 -1.9`, `-1.4 -1 -2.3 1.5`)
	f(`{"type":"number","exclusiveMinimum":99.5}`, `99.51 99.500001 100 1000.5`, `99.5 99.50 99`)
	f(`{"type":"number","maximum":-0.001}`, `-0.001 -1 -0.5 -0.00100`, `-0.0001 0 1`)
	f(`{"type":"number","minimum":3,"maximum":3}`, `3 3.0`, `2 3.1`)
	f(`{"type":"number","minimum":3.14,"maximum":3.14}`, `3.14 3.140`, `3.1 3.141 3`)
	f(`{"type":["integer","null"],"minimum":1,"maximum":3}`, `1 null`, `0 4`)
	f(`{"minimum":10}`, `10 10.5 11`, `9 "x"`)
}

func TestPatterns(t *testing.T) {
	f := func(pattern, good, bad string) {
		t.Helper()
		g := schemaOf(t, `{"type":"string","pattern":`+string(appendQuoted(nil, pattern))+`}`)
		for _, s := range strings.Split(good, " ") {
			if !matches(g, string(appendQuoted(nil, s))) {
				t.Errorf("%s refuses %q", pattern, s)
			}
		}
		for _, s := range strings.Split(bad, " ") {
			if matches(g, string(appendQuoted(nil, s))) {
				t.Errorf("%s takes %q", pattern, s)
			}
		}
	}
	f(`^[a-z]{2,3}$`, "ab abc", "a abcd AB xabx")
	f(`^\d{3}-\d{4}$`, "123-4567", "123-456 1234567")
	f(`b`, "b abc bé", "a xyz")
	f(`^a`, "a ab", "ba")
	f(`a$`, "a ba", "ab")
	f(`^(foo|ba[rz])$`, "foo bar baz", "fo bazz xfoo")
	f(`^foo$|^bar$`, "foo bar", "xfoo barx")
	f(`^foo|bar$`, "foo foox bar xbar", "xfoo barx")
	f(`^(?:a|b|)$`, "a b ", "c ab")
	f(`^(?i)ab[c]$`, "abc ABC aBC", "abd")
	f(`^["\\/\n]+$`, "\" \\ / \n \\\"", "a")
	f(`^.$`, "a é \"", "ab  \n \r")
	f(`^\w+@\w+\.com$`, "a@b.com", "a@bxcom @b.com")
	f(`^[^a]*$`, "b xyz \" é ", "a ba")
	f(`^$`, "", "a")
	f(`^x*y?$`, "xxxy  y", "yy yx")
	f(`^(a{2}){1,2}$`, "aa aaaa", "a aaa aaaaaa")
}

func TestFormats(t *testing.T) {
	f := func(format, good, bad string) {
		t.Helper()
		g := schemaOf(t, `{"type":"string","format":"`+format+`"}`)
		for _, s := range strings.Fields(good) {
			if !matches(g, `"`+s+`"`) {
				t.Errorf("%s refuses %s", format, s)
			}
		}
		for _, s := range strings.Fields(bad) {
			if matches(g, `"`+s+`"`) {
				t.Errorf("%s takes %s", format, s)
			}
		}
	}
	f("date", "2024-02-29 2023-02-28 2000-02-29 1999-12-31 0004-02-29", "2023-02-29 1900-02-29 2024-13-01 2024-00-10 2024-04-31 2024-1-1 2024-01-00")
	f("time", "23:59:59Z 00:00:00.123456789+05:30", "24:00:00Z 12:60:00Z 12:00Z 12:00:00 12:00:00+24:00")
	f("date-time", "2024-02-29T12:00:00Z 2024-01-01T00:00:00.5-08:00", "2024-02-29 2024-02-29T12:00:00 2024-02-30T12:00:00Z")
	f("duration", "P1D P1Y2M3D PT5M P1DT2H3M4S P3W PT1S", "P PT 1D P1H P1DT P1Y3D")
	f("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000 123e4567-e89b-12d3-a456-42661417400 g23e4567-e89b-12d3-a456-426614174000")
	f("email", "a@b.com a.b+c@x-y.example.org", "a a@b @b.com a..b@c.de .a@b.com a@-b.com")
	f("hostname", "a.b x-y.example.com", "-a.b a..b a_b.c")
	f("ipv4", "0.0.0.0 255.255.255.255 10.1.99.200", "256.0.0.1 1.2.3 01.2.3.4 1.2.3.4.5")
	f("ipv6", "2001:db8:0:0:0:0:0:1", "1:2:3 2001:db8:0:0:0:0:0:1:1 g:0:0:0:0:0:0:0")
	f("uri", "https://a.example/x/y?z=1#f mailto: http://a.b:8080 a:/x%20y urn:/x", "a ://x http://a.b/%zz http://a.b/x^y 1a:x")
}

func TestWhatCannotBeEnforced(t *testing.T) {
	f := func(schema, want string) {
		t.Helper()
		_, err := Schema([]byte(schema))
		var e *SchemaError
		if !errors.As(err, &e) || e.Error() != want {
			t.Errorf("%.100s:\n got %v\nwant %s", schema, err, want)
		}
	}
	f(`{`, `it is not JSON: jsontext: unexpected EOF after offset 1`)
	f(`1 2`, "something follows it")
	f(`{"a":1,"a":2}`, `it is not JSON: jsontext: duplicate object member name "a"`)
	f(`1`, "a schema is an object or a boolean")
	f(`false`, "nothing fits false")
	f(`{"properties":{"a":false}}`, "properties.a: nothing fits false")
	f(`{"properties":{"a":{"items":{"not":{}}}}}`, "properties.a.items.not: it cannot be enforced")
	f(`{"type":"object","patternProperties":{}}`, "patternProperties: it cannot be enforced")
	f(`{"type":"array","uniqueItems":true}`, "uniqueItems: it cannot be enforced")
	f(`{"type":"array","contains":{}}`, "contains: it cannot be enforced")
	f(`{"type":"number","multipleOf":0.5}`, "multipleOf: it cannot be enforced")
	f(`{"type":"string","format":"iri"}`, "format: it cannot be enforced")
	f(`{"type":"string","format":"date","minLength":3}`, "format: it cannot be enforced together with a pattern or a length")
	f(`{"type":"string","pattern":"^a$","maxLength":3}`, "pattern: it cannot be enforced together with a length")
	f(`{"type":"string","pattern":"(?=a)b"}`, "pattern: it cannot be enforced: error parsing regexp: invalid or unsupported Perl syntax: `(?=`")
	f(`{"type":"string","pattern":"a^b"}`, `pattern: it cannot be enforced: \A is not at an end of the whole`)
	f(`{"type":"string","pattern":"\\bx"}`, `pattern: it cannot be enforced: \b is not known`)
	f(`{"type":"string","pattern":5}`, "pattern: it is a regular expression of at most 1000 bytes")
	f(`{"type":"strin"}`, "type: it is object, array, string, number, integer, boolean, null, or a list of these")
	f(`{"type":[]}`, "type: it is object, array, string, number, integer, boolean, null, or a list of these")
	f(`{"enum":[]}`, "enum: it is a list of values")
	f(`{"type":"string","enum":[1]}`, "enum: no value has the type")
	f(`{"enum":["a"],"minLength":3}`, "minLength: it cannot be enforced beside enum")
	f(`{"anyOf":[]}`, "anyOf: it is a list of schemas")
	f(`{"anyOf":[{"type":"string"},{"type":"x"}]}`, "anyOf[1].type: it is object, array, string, number, integer, boolean, null, or a list of these")
	f(`{"type":"object","anyOf":[{}]}`, "type: it cannot be enforced beside anyOf")
	f(`{"allOf":[{},{}]}`, "allOf: more than one schema cannot be enforced")
	f(`{"oneOf":[{"type":"string"},{"maxLength":3}]}`, "oneOf: it cannot be enforced where a document may fit two of its schemas: use anyOf")
	f(`{"$ref":"other.json"}`, "$ref: only references to parts of this schema are known, such as #/$defs/name")
	f(`{"$ref":"#/$defs/x"}`, "$ref: it points at nothing")
	f(`{"$ref":"#/$defs/x","minimum":1,"$defs":{"x":{}}}`, "minimum: it cannot be enforced beside $ref")
	f(`{"$ref":"#"}`, "no document fits it")
	f(`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"},{}]}},"items":{"$ref":"#/$defs/a"}}`, "$defs.a: it refers to itself, and to nothing else")
	f(`{"properties":{"a":{"$ref":"#"}},"required":["a"]}`, "no document fits it")
	f(`{"required":["a"],"additionalProperties":false}`, "required[0]: additionalProperties is false, and properties lacks it")
	f(`{"required":"a"}`, "required: it is a list of names")
	f(`{"required":[1]}`, "required[0]: it is the name of a property")
	f(`{"properties":[]}`, "properties: it is an object of schemas")
	f(`{"prefixItems":{}}`, "prefixItems: it is a list of schemas")
	f(`{"minItems":3,"maxItems":2}`, "maxItems: it is less than minItems")
	f(`{"items":false,"minItems":1}`, "minItems: there cannot be so many")
	f(`{"minLength":-1}`, "minLength: it is an integer from 0 to 1048576")
	f(`{"maxLength":1e9}`, "maxLength: it is an integer from 0 to 1048576")
	f(`{"type":"object","minProperties":1}`, "minProperties: it cannot be enforced")
	f(`{"type":"object","maxProperties":1}`, "maxProperties: it cannot be enforced")
	f(`{"type":"integer","minimum":5,"maximum":4}`, "no number is within its bounds")
	f(`{"type":"integer","exclusiveMinimum":5,"exclusiveMaximum":6}`, "no number is within its bounds")
	f(`{"type":"number","minimum":"1"}`, "minimum: it is a number of at most 40 digits")
	f(`{"type":"number","minimum":1e400}`, "minimum: it is a number of at most 40 digits")
}
