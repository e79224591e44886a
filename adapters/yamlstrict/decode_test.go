package yamlstrict

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

type shared struct {
	Weight int `yaml:"weight"`
}

type backend struct {
	shared `yaml:",inline"`
	URL    string         `yaml:"url"`
	Idle   time.Duration  `yaml:"idle"`
	On     *bool          `yaml:"on"`
	Rate   float64        `yaml:"rate"`
	Rest   yaml.Node      `yaml:"rest"`
	Small  int8           `yaml:"small"`
	Tags   []string       `yaml:"tags"`
	Sizes  map[string]int `yaml:"sizes"`
	Own    string
}

type document struct {
	Models map[string]backend `yaml:"models"`
	List   []backend          `yaml:"list"`
}

func parse(t testing.TB, src string) *yaml.Node {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(src), &n); err != nil {
		t.Fatal(err)
	}
	return &n
}

func TestDecodeFills(t *testing.T) {
	var d document
	errs := Decode(parse(t, `
base: &base {weight: 3}
models:
  a/b: {<<: *base, url: 7, idle: 1m30s, on: true, rate: 1, small: -3, tags: [x, "y"], sizes: {k: 1}, rest: {p: [1]}}
  c: {<<: [*base, {weight: 4, url: u}], rate: null}
list: [{url: first}, ]
`[1:]), "", &d)
	// base is unknown to the type: the only complaint.
	if len(errs) != 1 || errs[0].Error() != `base: unknown key (valid: models, list) (line 1)` {
		t.Fatalf("errors: %v", errs)
	}
	a, c := d.Models["a/b"], d.Models["c"]
	if a.Weight != 3 || a.URL != "7" || a.Idle != 90*time.Second || !*a.On || a.Rate != 1 || a.Small != -3 {
		t.Errorf("got %+v", a)
	}
	if !reflect.DeepEqual(a.Tags, []string{"x", "y"}) || a.Sizes["k"] != 1 {
		t.Errorf("got %+v", a)
	}
	if c.Weight != 3 || c.URL != "u" || d.List[0].URL != "first" {
		t.Errorf("got %+v, %+v", c, d.List)
	}
	var rest struct {
		P []int `yaml:"p"`
	}
	if errs := Decode(&a.Rest, "x.rest", &rest); errs != nil || rest.P[0] != 1 {
		t.Errorf("rest: %v, %v", rest, errs)
	}
}

func TestDecodeReportsEverything(t *testing.T) {
	f := func(src string, want ...string) {
		t.Helper()
		var d document
		errs := Decode(parse(t, src), "", &d)
		var got []string
		for _, err := range errs {
			if e := (*Error)(nil); !errors.As(err, &e) {
				t.Errorf("%T is no *Error", err)
			}
			got = append(got, err.Error())
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", src, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	f("modles: {}", `modles: unknown key, did you mean "models"? (valid: models, list) (line 1)`)
	f("models: {\"o/*\": {url: [x], idle: 5, on: yep, small: 300, rate: x, tags: y, sizes: [1]}}",
		`models."o/*".url: must be a string, not a list (line 1)`,
		`models."o/*".idle: must be a duration such as 30s or 5m, not "5" (line 1)`,
		`models."o/*".on: must be true or false, not "yep" (line 1)`,
		`models."o/*".small: must be a whole number, not "300" (line 1)`,
		`models."o/*".rate: must be a number, not "x" (line 1)`,
		`models."o/*".tags: must be a list, not "y" (line 1)`,
		`models."o/*".sizes: must be a mapping, not a list (line 1)`)
	f("list:\n- {url: true}\n- {url: a, url: b}\n- 5",
		`list[0].url: must be a string, not "true" (line 2)`,
		`list[1].url: written twice, first in line 3 (line 3)`,
		`list[2]: must be a mapping, not "5" (line 4)`)
	f("[]", `must be a mapping, not a list (line 1)`)
	f("? [a]\n: b", `has a key that is a list; keys are plain words (line 1)`)
	f("list: [{<<: 5}]", `list[0]: << must be a mapping, not "5" (line 1)`)
	f("list: [{idle: -5s}]", `list[0].idle: must be a duration such as 30s or 5m, not "-5s" (line 1)`)
}

func TestDecodeIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("x0: &x0 [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n")
	for i := 1; i < 12; i++ {
		fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i-1), 10), ", "))
	}
	type list []list
	var into map[string]list
	errs := Decode(parse(t, b.String()), "", &into)
	if len(errs) == 0 {
		t.Error("a document that explodes was taken")
	}
	type tree map[string]tree
	var self tree
	if errs := Decode(parse(t, "a: &a {b: *a}"), "", &self); len(errs) == 0 {
		t.Error("a document that contains itself was taken")
	}
}

func TestPairsKeepTheirOrder(t *testing.T) {
	var d struct {
		Map Pairs `yaml:"map"`
	}
	errs := Decode(parse(t, "map: {z: 1, a: &a {k: v}, m: *a, z: 2}"), "", &d)
	if len(errs) != 1 || errs[0].Error() != "map.z: written twice, first in line 1 (line 1)" {
		t.Errorf("errors: %v", errs)
	}
	var got []string
	for _, p := range d.Map {
		got = append(got, p.Key+" "+p.Value.ShortTag())
	}
	if want := []string{"z !!int", "a !!map", "m !!map"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSuggest(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if s := Suggest(got, []string{"sse", "ndjson", "raw"}); s != want {
			t.Errorf("Suggest(%q) = %q, want %q", got, s, want)
		}
	}
	f("ndjsn", `, did you mean "ndjson"? (valid: sse, ndjson, raw)`)
	f("SSE", `, did you mean "sse"? (valid: sse, ndjson, raw)`)
	f("websocket", ` (valid: sse, ndjson, raw)`)
	f("x", ` (valid: sse, ndjson, raw)`)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("models: {a: {url: x}}"))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("<<: {models: {}}\nlist: [{idle: 1s}]"))
	f.Fuzz(func(t *testing.T, src []byte) {
		var n yaml.Node
		if yaml.Unmarshal(src, &n) != nil || n.Kind == 0 {
			return
		}
		var d document
		Decode(&n, "", &d)
	})
}
