package openai

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestAppendEscaped(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := string(appendEscaped(nil, []byte(text))); got != want {
			t.Errorf("%q became %s, want %s", text, got, want)
		}
	}
	f("", ``)
	f("plain \u00e9\U0001f600\x7f", "plain \u00e9\U0001f600\x7f")
	f("\"\\/", `\"\\/`)
	f("\x00\b\t\n\f\r\x1f", `\u0000\u0008\t\n\u000c\r\u001f`)
	f("\u0085\u2028\u2029", `\u0085\u2028\u2029`)
	f("<&>", `<&>`)
	f("a\xffb\xe2\x82", "a\ufffdb\ufffd\ufffd")
	f("\ufffd", "\ufffd")
}

// FuzzAppendEscaped wants valid JSON that says the same text.
func FuzzAppendEscaped(f *testing.F) {
	f.Add([]byte("a\"\\\n\x00\u2028\u0085\xff\U0001f600"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := append(appendEscaped([]byte{'"'}, text), '"')
		var back string
		if err := json.Unmarshal(got, &back); err != nil || !utf8.Valid(got) {
			t.Fatalf("%q is %q: %v", text, got, err)
		}
		if want := string([]rune(string(text))); back != want { // that conversion also replaces bad bytes
			t.Fatalf("%q came back as %q", want, back)
		}
		if bytes.ContainsAny(got, "\r\n\u2028\u2029\u0085") {
			t.Fatalf("a line end in %q", got)
		}
		joined := []byte{}
		for piece, rest := cut(text); len(piece) > 0; piece, rest = cut(rest) {
			if len(piece) > maxPiece || utf8.Valid(text) && !utf8.Valid(piece) {
				t.Fatalf("a piece of %d bytes, or a rune cut", len(piece))
			}
			joined = append(joined, piece...)
		}
		if !bytes.Equal(joined, text) {
			t.Fatal("the pieces are not the text")
		}
	})
}
