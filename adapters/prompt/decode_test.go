package prompt

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDecodeKeepsOrderAndNumbers(t *testing.T) {
	v, err := decode([]byte(` {"z": 1, "a": {"y": [2.0, 1e3, -0.5, 9007199254740993], "b": null}, "é\n": "\u65e5", "t": true} `), same)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{'z': 1, 'a': {'y': [2.0, 1000.0, -0.5, 9007199254740993], 'b': None}, 'é\n': '日', 't': True}`
	if v.String() != want {
		t.Errorf("got %s\nwant %s", v, want)
	}
}

func TestDecodeTreatsKeysAndStrings(t *testing.T) {
	v, err := decode([]byte(`{"k": ["s", 1]}`), strings.ToUpper)
	if err != nil || v.String() != `{'K': ['S', 1]}` {
		t.Errorf("%s %v", v, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("[", 1<<20)
	for _, s := range []string{"", "{", "[1", "[1}", "{1:2}", `{"a" 1}`, `{"a":1,}`, "1 2", "nul", `"a`, deep, strings.Repeat(`{"a":`, 1<<16)} {
		if v, err := decode([]byte(s), same); err == nil {
			t.Errorf("%.20q: %v", s, v)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[2.0,null,true,"x"]}`, "[]", "-0", "1e400", `"\ud800"`, `{"":{}}`, "[[[", "9223372036854775808", `{"a":1,"a":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := decode([]byte(s), same)
		if (err == nil) != json.Valid([]byte(s)) && strings.Count(s, "[")+strings.Count(s, "{") <= maxJSONDepth {
			t.Fatalf("%q: %v", s, err)
		}
		if err == nil {
			_ = v.String()
		}
	})
}
