package jsonscan

import (
	"strings"
	"testing"
)

func TestAll(t *testing.T) {
	f := func(object, want string) {
		t.Helper()
		var got []string
		for name, value := range All([]byte(object)) {
			got = append(got, string(name)+"="+string(value))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("All(%s) = %s, want %s", object, s, want)
		}
	}
	f(`{}`, "")
	f(` { } `, "")
	f(`[1]`, "")
	f(``, "")
	f(`{"a":1,"b" : {"c":"}"} , "\u0061":[1, 2]}`, `a=1|b={"c":"}"}|a=[1, 2]`)
	f("\t{\"a\":\n\"x\\\"y\"\n}\n", `a="x\"y"`)
}

func TestAppendUnquoted(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		if got := AppendUnquoted([]byte("> "), []byte(value)); string(got) != "> "+want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
	f(`"a\n\ud83d\ude00"`, "a\n\U0001f600")
	f(`null`, "")
	f(`12`, "")
	f(`""`, "")
}

func TestGrowing(t *testing.T) {
	var g Growing
	f := func(value, want string) {
		t.Helper()
		if got := g.Text([]byte(value)); string(got) != want {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
	}
	f(`""`, "")
	f(`"caf"`, "caf")
	f(`"caf\u00e9"`, "café")
	f(`"caf\u00e9"`, "café")
	f(`"caf\u00e9 \ud83d"`, "café �")
	f(`"caf\u00e9 \ud83d\ude00"`, "café \U0001f600")
	f(`"caf\u00e9 \ud83d\ude00!"`, "café \U0001f600!")
	f(`"caf"`, "caf")
	f(`null`, "")
	f(`"x"`, "x")
}

func FuzzGrowing(f *testing.F) {
	f.Add(`"a\ud83d`, `\ude00b"`)
	f.Add(`"\\`, `u0041"`)
	f.Fuzz(func(t *testing.T, first, more string) {
		var g Growing
		for _, value := range []string{first + `"`, first + more} {
			if len(value) < 2 || value[0] != '"' || Valid([]byte(value), 1) != nil {
				continue
			}
			want, _ := Unquote([]byte(value))
			if got := g.Text([]byte(value)); string(got) != want {
				t.Fatalf("%s: got %q, want %q", value, got, want)
			}
		}
	})
}
