package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validator returns another implementation's idea of a schema.
func validator(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	v, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return v
}

// write returns a random document of g. After some bytes it takes the shortest
// way out that it sees; nil if that does not lead out.
func write(t *testing.T, g *Grammar, r *rand.Rand) []byte {
	t.Helper()
	m := newMachine(g)
	at := m.start()
	var doc []byte
	for length := r.IntN(400); ; {
		s := &m.states[at]
		if s.final && (len(doc) > length || len(s.threads) == 0 || r.IntN(4) == 0) {
			return doc
		}
		var may []byte
		for c := range 256 {
			if m.next(at, byte(c)) != 0 {
				may = append(may, byte(c))
			}
		}
		if len(doc) > 10_000 {
			return nil
		}
		if len(may) == 0 {
			t.Fatalf("after %d bytes nothing may come: %.200s (%v)", len(doc), doc, m.err)
		}
		c := may[r.IntN(len(may))]
		if len(doc) > length {
			for _, end := range []byte(`"0123456789]}.nftZ,`) {
				if bytes.IndexByte(may, end) >= 0 {
					c = end
					break
				}
			}
		}
		doc = append(doc, c)
		m.steps = maxSteps
		at = m.next(at, c)
	}
}

// fits reports what is wrong with a document, in the eyes of the other
// implementation.
func fits(v *jsonschema.Schema, doc []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return v.Validate(value)
}

// schemas makes random schemas.
type schemas struct {
	*rand.Rand
	defs int
}

func (r schemas) pick(list ...string) string { return list[r.IntN(len(list))] }

func (r schemas) list(low, high int, one func(int) string) string {
	var all []string
	for i := range low + r.IntN(high-low+1) {
		all = append(all, one(i))
	}
	return strings.Join(all, ",")
}

func (r schemas) schema(depth int) string {
	if depth == 0 {
		return r.leaf()
	}
	switch r.IntN(8) {
	case 0, 1, 2:
		return r.object(depth)
	case 3, 4:
		return r.array(depth)
	case 5:
		return `{"anyOf":[` + r.list(1, 3, func(int) string { return r.schema(depth - 1) }) + `]}`
	case 6:
		return fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, r.IntN(r.defs))
	}
	return r.leaf()
}

func (r schemas) object(depth int) string {
	n := r.IntN(5)
	props, required := "", ""
	for i := range n {
		name := fmt.Sprintf(`"p%d%s"`, i, r.pick("", `\"`, "é", " x", `\n`))
		props += "," + name + ":" + r.schema(depth-1)
		if r.IntN(2) == 0 {
			required += "," + name
		}
	}
	text := `{"type":"object"`
	if n > 0 {
		text += `,"properties":{` + props[1:] + `}`
	}
	if required != "" {
		text += `,"required":[` + required[1:] + `]`
	}
	return text + r.pick("", `,"additionalProperties":false`, `,"additionalProperties":{"type":"integer"}`) + `}`
}

func (r schemas) array(depth int) string {
	text := `{"type":"array"`
	if r.IntN(3) == 0 {
		text += `,"prefixItems":[` + r.list(1, 3, func(int) string { return r.schema(depth - 1) }) + `]`
	}
	text += r.pick("", `,"items":`+r.schema(depth-1), `,"items":`+r.schema(depth-1))
	low := r.IntN(4)
	return text + r.pick("", fmt.Sprintf(`,"minItems":%d`, low), fmt.Sprintf(`,"minItems":%d,"maxItems":%d`, low, low+r.IntN(4)), fmt.Sprintf(`,"maxItems":%d`, low)) + `}`
}

func (r schemas) leaf() string {
	switch r.IntN(10) {
	case 0:
		return `{"type":["string","null"],"minLength":` + fmt.Sprint(r.IntN(5)) + `}`
	case 1:
		return `{"type":"string","maxLength":` + fmt.Sprint(r.IntN(20)) + `}`
	case 2:
		return `{"type":"string","format":"` + r.pick("date", "time", "date-time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6", "uri") + `"}`
	case 3:
		return `{"type":"string","pattern":"` + r.pick(`^[a-z]+$`, `^\\d{2,4}-x?$`, `\\d`, `^(a|bc)*\\.$`, `^[\"\\\\\\n]*$`, `^é+$`) + `"}`
	case 4:
		low := r.Float64()*200 - 100
		return fmt.Sprintf(`{"type":"number","%s":%.*f,"%s":%.*f}`, r.pick("minimum", "exclusiveMinimum"), r.IntN(4), low,
			r.pick("maximum", "exclusiveMaximum"), r.IntN(4), low+2+r.Float64()*50)
	case 5:
		low := r.IntN(2000) - 1000
		return fmt.Sprintf(`{"type":"integer","minimum":%d,"maximum":%d}`, low, low+r.IntN(1000))
	case 6:
		return r.pick(`{"enum":["a",1,null,{"x":[1]},"\u00e9\n"]}`, `{"const":"x"}`, `{"type":"integer","enum":[1,2.5,"x"]}`)
	case 7:
		return fmt.Sprintf(`{"type":"%s","%s":%d}`, r.pick("integer", "number"), r.pick("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), r.IntN(200)-100)
	case 8:
		return r.pick(`true`, `{}`, `{"type":"object"}`, `{"type":"array"}`)
	}
	return `{"type":"` + r.pick("string", "number", "integer", "boolean", "null") + `"}`
}

// Whatever a grammar lets through fits its schema.
func TestDocumentsFitTheirSchemas(t *testing.T) {
	made := 0
	for seed := range uint64(150) {
		r := schemas{rand.New(rand.NewPCG(seed, 1)), 3}
		text := r.schema(4)
		if text == "true" {
			continue
		}
		defs := fmt.Sprintf(`"$defs":{"d0":%s,"d1":%s,"d2":%s}`, r.schema(2), r.schema(2), r.schema(1))
		if text == "{}" {
			text = `{` + defs + `}`
		} else {
			text = text[:len(text)-1] + "," + defs + "}"
		}
		g, err := Schema([]byte(text))
		var e *SchemaError
		if errors.As(err, &e) && (strings.HasSuffix(e.Why, "no document fits it") || strings.Contains(e.Why, "refers to itself")) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		v := validator(t, []byte(text))
		for range 5 {
			doc := write(t, g, r.Rand)
			if doc == nil {
				continue
			}
			if err := fits(v, doc); err != nil {
				t.Fatalf("seed %d, schema %s\nlets through %s\n%v", seed, text, doc, err)
			}
			made++
		}
	}
	if made < 400 {
		t.Errorf("only %d documents", made)
	}
}

func TestObjectsAreJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		doc := write(t, Object(), r)
		if doc == nil {
			t.Fatal("an object does not end")
		}
		var value map[string]any
		if err := json.Unmarshal(doc, &value); err != nil {
			t.Fatalf("%s: %v", doc, err)
		}
	}
}

// Any bytes at all are a schema or an error, soon.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"type":"integer","minimum":-5,"exclusiveMaximum":7.5}},"required":["a"]}`,
		`{"$ref":"#/$defs/n","$defs":{"n":{"items":{"anyOf":[{"$ref":"#"},{"pattern":"^a{2,3}|b$"}]},"prefixItems":[{"format":"date"}],"minItems":2}}}`,
		`{"oneOf":[{"const":"a"},{"enum":[1,null]},{"type":"object","additionalProperties":{"maxLength":3}}]}`,
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		g, err := Schema(data)
		if err != nil {
			if e := (*SchemaError)(nil); !errors.As(err, &e) || strings.Contains(err.Error(), "rule ") {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		m := newMachine(g)
		at := m.start()
		r := rand.New(rand.NewPCG(seed, 1))
		var doc []byte
		for len(doc) < 300 && !m.states[at].final {
			c := byte(r.IntN(256))
			for range 256 { // the next one that may come
				if m.next(at, c) != 0 {
					break
				}
				c++
			}
			doc = append(doc, c)
			m.steps = maxSteps
			if at = m.next(at, c); at == 0 && m.err == nil {
				t.Fatalf("%q: after %q nothing may come", data, doc)
			}
			if m.err != nil {
				return
			}
		}
		if m.states[at].final && !json.Valid(doc) {
			t.Fatalf("%q lets through %q", data, doc)
		}
	})
}

// Schemas that would cost much cost little.
func TestHostileSchemas(t *testing.T) {
	f := func(name, schema string, ok bool) {
		t.Helper()
		g, err := Schema([]byte(schema))
		if (err == nil) != ok {
			t.Errorf("%s: got %.200v", name, err)
		}
		if err == nil {
			m := newMachine(g)
			if m.start(); m.err != nil {
				t.Errorf("%s: %v", name, m.err)
			}
		}
	}
	many := func(n int, one string) string {
		return strings.TrimSuffix(strings.Repeat(one+",", n), ",")
	}
	numbered := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, ","+format, i)
		}
		return b.String()[1:]
	}
	f("brackets", strings.Repeat("[", maxSchema), false)
	f("deep", strings.Repeat(`{"items":`, 99)+"true"+strings.Repeat("}", 99), true)
	f("too deep", strings.Repeat(`{"items":`, 100)+"true"+strings.Repeat("}", 100), false)
	f("long", `{"description":"`+strings.Repeat("x", maxSchema)+`"}`, false)
	f("properties", `{"properties":{`+numbered(3000, `"p%d":{}`)+`}}`, true)
	f("required properties", `{"properties":{`+numbered(3000, `"p%d":{"type":"string"}`)+`},"required":[`+numbered(3000, `"p%d"`)+`]}`, true)
	f("objects of optional properties", strings.Repeat(`{"properties":{"a":{},"b":{},"c":`, 45)+"true"+strings.Repeat("}}", 45), true)
	f("literals", `{"enum":[`+numbered(20000, `"v%d"`)+`]}`, true)
	f("the same literals", `{"enum":[`+many(50000, `"v"`)+`]}`, true)
	f("schemas", `{"anyOf":[`+many(maxSchemas, `{}`)+`]}`, false)
	f("oneOf", `{"oneOf":[`+numbered(2000, `{"const":%d}`)+`]}`, false)
	f("fewer", `{"oneOf":[`+numbered(150, `{"const":%d}`)+`]}`, true)
	f("references", `{"$ref":"#/$defs/0","$defs":{`+numbered(4000, `"%d":{"$ref":"#/$defs/0"}`)+`}}`, false)
	var chain strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&chain, `,"%d":{"items":{"$ref":"#/$defs/%d"}}`, i, i+1)
	}
	f("a chain of references", `{"$ref":"#/$defs/0","$defs":{"4000":{}`+chain.String()+`}}`, true)
	f("a million items", `{"items":{"items":{"minItems":1000000},"minItems":1000000},"minItems":1000000}`, true)
	f("a million characters", `{"type":"string","minLength":1000000,"maxLength":1000000}`, true)
	f("patterns", `{"anyOf":[`+many(1000, `{"type":"string","pattern":"^\\p{L}+$"}`)+`]}`, false)
	f("repetitions", `{"type":"string","pattern":"^((a?){30}){30}$"}`, true)
	f("numbers", `{"anyOf":[`+many(2000, `{"type":"number","minimum":0.1234567890123456,"maximum":9876543210.123}`)+`]}`, false)
}
