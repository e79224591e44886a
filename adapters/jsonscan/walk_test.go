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

// TestShorten: what comes out is what the frames say, and short.
func TestShorten(t *testing.T) {
	var g Growing
	f := func(frame, short, want string) {
		t.Helper()
		data := g.Shorten([]byte(frame))
		var last []byte
		for name, value := range All(data) {
			if string(name) == "t" {
				last = value
			}
		}
		if got := g.Text(last); string(data) != short || string(got) != want {
			t.Errorf("%s: got %s, %q, want %s, %q", frame, data, got, short, want)
		}
	}
	f(`{"t":"","n":0}`, `{"t":"","n":0}`, "")
	f(`{"t":"a\\","n":1}`, `{"t":"a\\","n":1}`, `a\`)
	f(`{"t":"a\\nb","n":2}`, `{"t":"nb","n":2}`, `a\nb`)
	f(`{"t":"a\\nb"}`, `{"t":""}`, `a\nb`)
	f(`{"t":"a\\nb`, `{"t":"`, "") // cut off: as invalid as the frame
	f(`{"t":"a"}`, `{"t":"a"}`, "a")
	f(`{"n":3,"t":"ab"}`, `{"n":3,"t":"ab"}`, "ab")
	f(`{"n":4,"t":"abc"}`, `{"n":4,"t":"abc"}`, "abc")
	f(`{"n":4,"t":"abcd","t":"x"}`, `{"n":4,"t":"d","t":"x"}`, "x")
	f(`{"n":4,"t":"d","t":"xy"}`, `{"n":4,"t":"d","t":"y"}`, "xy")
	f(`{"n":4,"t":"z\ud83d"}`, `{"n":4,"t":"z\ud83d"}`, "z�")
	f(`{"n":4,"t":"z\ud83d\ude00"}`, `{"n":4,"t":"z\ud83d\ude00"}`, "z😀")
}

func FuzzGrowing(f *testing.F) {
	f.Add(`{"t":"`, `a\ud83d`, `\ude00b`, `"}`)
	f.Add(`{"t":"`, `\`, `u0041`, `","t":"x"}`)
	f.Add(``, `"a`, `b"`, ``)
	f.Fuzz(func(t *testing.T, before, first, more, after string) {
		var values, frames Growing
		for _, frame := range []string{before + first + after, before + first + more + after, before + more + after, before + more + first + after} {
			frame = strings.TrimSpace(frame) // as frames are cut
			data := frames.Shorten([]byte(frame))
			if err := Valid([]byte(frame), 8); (err == nil) != (Valid(data, 8) == nil) {
				t.Fatalf("%s: %v, but shortened to %s", frame, err, data)
			} else if err != nil {
				continue
			}
			whole, short := []byte(frame), data
			for _, v := range All(whole) {
				whole = v
			}
			for _, v := range All(short) {
				short = v
			}
			want, _ := Unquote(whole)
			if got := string(values.Text(whole)); got != want {
				t.Fatalf("%s: got %q, want %q", whole, got, want)
			}
			if got := string(frames.Text(short)); got != want {
				t.Fatalf("%s in %s: got %q, want %q", short, frame, got, want)
			}
		}
	})
}
