package jsonscan

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestValid(t *testing.T) {
	f := func(data string, want error) {
		t.Helper()
		if err := Valid([]byte(data), 4); !errors.Is(err, want) {
			t.Errorf("Valid(%q) = %v, want %v", data, err, want)
		}
	}
	f(`{"a":[1,{"b":null}],"c":"\u00e9\n"} `, nil)
	f(` -0.5e+10`, nil)
	f(`[]`, nil)
	f(`{ }`, nil)
	f(`[[[[]]]]`, nil)
	f("\"raw \xff byte\"", nil)
	f(`[[[[[]]]]]`, ErrDepth)
	f(``, ErrSyntax)
	f(`{}x`, ErrSyntax)
	f(`{} {}`, ErrSyntax)
	f(`[1,]`, ErrSyntax)
	f(`{"a":1,}`, ErrSyntax)
	f(`{"a" 1}`, ErrSyntax)
	f(`{a:1}`, ErrSyntax)
	f(`[1}`, ErrSyntax)
	f(`[1`, ErrSyntax)
	f(`01`, ErrSyntax)
	f(`1.`, ErrSyntax)
	f(`+1`, ErrSyntax)
	f(`1e`, ErrSyntax)
	f(`tru`, ErrSyntax)
	f(`"a`, ErrSyntax)
	f(`"\x"`, ErrSyntax)
	f(`"\u12g4"`, ErrSyntax)
	f("\"a line\nbreak in a string\"", ErrSyntax)
	f("\xef\xbb\xbf{}", ErrSyntax)
}

func TestErrorNamesTheOffset(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if err := Valid([]byte(data), 2); err == nil || err.Error() != want {
			t.Errorf("Valid(%q) = %v, want %s", data, err, want)
		}
	}
	f(`{"a":1,2}`, `invalid JSON at offset 7: unexpected '2' where a member's name should begin`)
	f(`{"a":1`, `invalid JSON at offset 6: it ends`)
	f(`[1] 2`, `invalid JSON at offset 4: unexpected '2' after the value`)
	f(`[[[`, `JSON is nested too deeply at offset 2: more than 2 levels`)
}

func TestBC088_MillionsOfBracketsAreRefusedAtTheLimit(t *testing.T) {
	for _, open := range []string{"[", `{"a":`, `[{"a":`} {
		data := []byte(strings.Repeat(open, 2_000_000))
		if err := Valid(data, 128); !errors.Is(err, ErrDepth) {
			t.Errorf("%q repeated: %v", open, err)
		}
		if _, err := Members(append([]byte(`{"x":`), data...), 128); !errors.Is(err, ErrDepth) {
			t.Errorf("%q repeated in a member: %v", open, err)
		}
	}
}

func TestMembers(t *testing.T) {
	data := []byte(` { "mod\u0065l" : "m", "a.b*c":[1, {"x":2}] ,"n":-1.50, "":{} } `)
	members, err := Members(data, 8)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, m := range members {
		got += fmt.Sprintf("%s=%s|", m.Name, data[m.Start:m.End])
	}
	if want := `model="m"|a.b*c=[1, {"x":2}]|n=-1.50|={}|`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMembersRefusesWhatIsNoObject(t *testing.T) {
	f := func(data string) {
		t.Helper()
		if m, err := Members([]byte(data), 8); err == nil {
			t.Errorf("Members(%q) = %v, want an error", data, m)
		}
	}
	f(``)
	f(`[]`)
	f(`"x"`)
	f(`{`)
	f(`{"a"`)
	f(`{"a":1`)
	f(`{"a":1,`)
	f(`{"a":1,}`)
	f(`{,}`)
	f(`{"a":1}}`)
	f(`{"a":1 "b":2}`)
	f(`{"a":[}`)
}

func TestBC086_DuplicateNames(t *testing.T) {
	f := func(object, name string) {
		t.Helper()
		var dup *DuplicateError
		if _, err := Members([]byte(object), 8); !errors.As(err, &dup) || dup.Name != name {
			t.Errorf("Members(%s) = %v, want a duplicate %q", object, err, name)
		}
		err := Each([]byte(object), func(_, _ []byte) error { return nil })
		if !errors.As(err, &dup) || dup.Name != name {
			t.Errorf("Each(%s) = %v, want a duplicate %q", object, err, name)
		}
	}
	f(`{"model":"cheap","x":1,"model":"secret"}`, "model")
	f(`{"model":"cheap","mod\u0065l":"secret"}`, "model")
	f(`{"a\n":1,"a\u000a":2}`, "a\n")

	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, `"k%d":%d,`, i, i)
	}
	f(`{`+many.String()+`"k3":0}`, "k3")

	if _, err := Members([]byte(`{"model":1,"Model":2,"x":{"a":1,"a":2}}`), 8); err != nil {
		t.Errorf("other case, or an inner object: %v", err)
	}
}

func TestTooManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	object := []byte("{" + b.String()[1:] + "}")
	if _, err := Members(object, 8); !errors.Is(err, ErrMembers) {
		t.Errorf("Members of 10,001 = %v", err)
	}
	if err := Each(object, func(_, _ []byte) error { return nil }); !errors.Is(err, ErrMembers) {
		t.Errorf("Each of 10,001 = %v", err)
	}
	if err := Valid(object, 8); err != nil {
		t.Errorf("Valid = %v, but it lists no members", err)
	}
}

func TestEachAndElements(t *testing.T) {
	object := []byte(`{ "a\"}" : "x]\\" , "b":[{"c":"}"},2 , null], "d":true}`)
	got := ""
	err := Each(object, func(name, value []byte) error {
		got += fmt.Sprintf("%s=%s|", name, value)
		return nil
	})
	if want := `a"}="x]\\"|b=[{"c":"}"},2 , null]|d=true|`; err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	got = ""
	for value := range Elements([]byte(` [ {"c":"}"},2 , null,[], "a,b"] `)) {
		got += string(value) + "|"
	}
	if want := `{"c":"}"}|2|null|[]|"a,b"|`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	stop := errors.New("enough")
	if err := Each(object, func(_, _ []byte) error { return stop }); err != stop {
		t.Errorf("Each = %v, want f's own error", err)
	}
}

func TestUnquote(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		if got, ok := Unquote([]byte(value)); !ok || got != want {
			t.Errorf("Unquote(%s) = %q, %v, want %q", value, got, ok, want)
		}
	}
	f(`""`, "")
	f(`"plain"`, "plain")
	f(`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t")
	f(`"\u00E9\u2028\u0000"`, "\u00e9\u2028\x00")
	f(`"\ud83d\ude00!"`, "\U0001f600!")
	f(`"\ud83d!"`, "\ufffd!")
	f(`"\ude00\ud83d"`, "\ufffd\ufffd")
	f(`"\ud83d\u0041"`, "\ufffdA")
	if got, ok := Unquote([]byte(`12`)); ok {
		t.Errorf("Unquote(12) = %q, want not a string", got)
	}
}

// body is a request of about 100 KB.
func body() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"system","content":"You help."}`)
	text := strings.Repeat("A plain sentence of a usual length, with one escape.\\n", 20)
	for b.Len() < 100_000 {
		b.WriteString(`,{"role":"user","content":"` + text + `"}`)
	}
	b.WriteString(`],"temperature":0.5,"stream":true}`)
	return []byte(b.String())
}

func BenchmarkMembers100KB(b *testing.B) {
	data := body()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Members(data, 128); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEach100KB(b *testing.B) {
	data := body()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Each(data, func(_, _ []byte) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

var frame = []byte(`{"id":"x","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}`)

func BenchmarkValidFrame(b *testing.B) {
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Valid(frame, 128); err != nil {
			b.Fatal(err)
		}
	}
}

func TestValidAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { _ = Valid(frame, 128) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
