package grammar

import (
	"errors"
	"strings"
	"testing"
)

// matches reports whether text is whole in g.
func matches(g *Grammar, text string) bool {
	m := newMachine(g)
	at := m.start()
	for i := range len(text) {
		at = m.next(at, text[i])
	}
	return m.states[at].final
}

func parse(t *testing.T, text string) *Grammar {
	t.Helper()
	g, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return g
}

func TestGrammars(t *testing.T) {
	f := func(text, good, bad string) {
		t.Helper()
		g := parse(t, text)
		for _, s := range strings.Split(good, "|") {
			if !matches(g, s) {
				t.Errorf("%s: refuses %q", text, s)
			}
		}
		for _, s := range strings.Split(bad, "|") {
			if matches(g, s) {
				t.Errorf("%s: takes %q", text, s)
			}
		}
	}
	f(`root ::= "ab"`, "ab", "|a|abc|abab")
	f(`root ::= "a" | "b" "c"`, "a|bc", "|b|ac|abc")
	f(`root ::= ("a" | "bc")* "d"?`, "|a|abca|d|aad", "b|da|dd")
	f(`root ::= "a"+`, "a|aaaa", "|b")
	f(`root ::= "a"{2}`, "aa", "a|aaa")
	f(`root ::= "a"{2,}`, "aa|aaaaaa", "a|")
	f(`root ::= "ab"{1,3} "a"`, "aba|ababa|abababa", "a|ababababa|abab")
	f(`root ::= ("a" "b"{0,2}){2,3}`, "aa|abbab|aabab|abbabbabb", "a|aaaa|abbba")
	f(`root ::= "a"{0,0} "b" "c"{0,2}`, "b|bcc", "ab|bccc")
	f(`root ::= "[" (root ("," root)*)? "]"`, "[]|[[],[[]]]", "[|[[]|[,]|]")
	f("root ::= a\na ::= b b # twice\n\n# nothing\nb ::= (\"x\" |\n \"y\")\r\n", "xy|yy", "x|xyx")
	f("root ::= \"x\" |\n  \"y\"\n", "x|y", "xy")
	f(`root ::= [a-cx] [^a-c] [\]\\^-] .`, "ad]é|xx\\\n|cé^x|az-x", "aa]x|dd]x|ad!x|ad]")
	f(`root ::= [à-ö] [^é] [😀-😂]`, "éà😁|àx😀", "ée😃|éé😀|ee😀|é")
	f(`root ::= "\"\\\n\t\r\x41é\U0001F600[]\[\]"`, "\"\\\n\t\rAé😀[][]", "")
	f(`root ::= [^\x00-\U0010FFFF]? "a"`, "a", "ba")
	f(`root ::= "a" | x
x ::= "b" x`, "a", "b|ba")
	f(`root ::= x y
x ::= "a" x | ""
y ::= "a" | "b"`, "aaa|a|b|aab", "|aba")
}

// A character that is cut is neither refused nor taken for whole; what is no
// UTF-8 is refused.
func TestCharactersInParts(t *testing.T) {
	m := newMachine(parse(t, `root ::= .`))
	for _, c := range []string{"a", "\x00", "\u007f", "\u0080", "é", "\u07ff", "\u0800", "한", "\ud7ff", "\ue000", "\uffff", "\U00010000", "😀", "\U0010ffff"} {
		at := m.start()
		for i := range len(c) {
			if m.states[at].final || at == 0 {
				t.Errorf("%q: after %d bytes it may end, or not go on", c, i)
			}
			at = m.next(at, c[i])
		}
		if !m.states[at].final {
			t.Errorf("%q is refused", c)
		}
	}
	for _, c := range []string{"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf8", "\xff"} {
		if matches(m.g, c) {
			t.Errorf("%q is taken", c)
		}
	}
}

func TestBadGrammars(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%.60s: got %v, want %s", text, err, want)
		}
	}
	f(``, "rule root is missing")
	f(`x ::= "a"`, "rule root is missing")
	f("root ::= \"a\"\nroot ::= \"b\"", "line 2: rule root is there twice")
	f(`root ::= y`, "rule y is missing")
	f(`root := "a"`, "line 1: expected NAME ::=")
	f("root ::= \"a\"\n ::= \"b\"", "line 2: expected NAME ::=")
	f(`root ::= "a" )`, "line 1: expected the end of the line")
	f(`root ::= ("a"`, "line 1: expected )")
	f(`root ::= "a`, "line 1: the text or class does not end")
	f("root ::= \"a\n\"", "line 1: the text or class does not end")
	f(`root ::= [a`, "line 1: the text or class does not end")
	f(`root ::= "\`, "line 1: an escape does not end")
	f(`root ::= "\u12"`, "line 1: an escape does not end")
	f(`root ::= "\ud800"`, "line 1: an escape is no character")
	f(`root ::= "\U00110000"`, "line 1: an escape is no character")
	f(`root ::= "\u1`, "line 1: an escape does not end")
	f(`root ::= "\q"`, "line 1: unknown escape")
	for _, n := range []string{"", "x", "1", "-1", "2,1", ",2", "9999999", "0,9999999", "1,2,3"} {
		f(`root ::= "a"{`+n+map[bool]string{true: "", false: "}"}[n == "1"], "line 1: expected {N}, {N,} or {N,M}, up to 1048576")
	}
	f(`root ::= "a" root`, "rule root has no text that ends")
	f(`root ::= []`, "rule root has no text that ends")
	f(`root ::= root "a" | "b"`, "rule root begins with itself")
	f("root ::= x \"a\" | \"b\"\nx ::= \"\" y\ny ::= root?", "rule root begins with itself")
	f("root ::= \"a\" x\nx ::= (\"b\"* x)? \"c\"", "rule x begins with itself")
	f(`root ::= `+strings.Repeat("(", 100), "the grammar is too large")
	f(`root ::= "`+strings.Repeat("x", maxText), "the grammar is too large")
	f("root ::= \"a\"\n"+strings.Repeat("a", 10)+manyRules(maxRules), "the grammar is too large")
}

func manyRules(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("x", 1+i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26%60) + strings.Repeat("z", i/1560) + " ::= \"a\"\n")
	}
	return b.String()
}

// Ways to read a text multiply; the machine gives up, it does not hang.
func TestTooManyWays(t *testing.T) {
	for _, text := range []string{
		`root ::= ("a" | "aa" | "aaa"){0,100000} "b"`,
		`root ::= ("a"{0,1000}){0,1000} "b"`,
		`root ::= ("a"?){1000000} "b"`,
		"root ::= x{1,1000}\nx ::= y{1,1000}\ny ::= \"a\" | \"aa\" y",
	} {
		m := newMachine(parse(t, text))
		at := m.start()
		for range 5000 {
			at = m.next(at, 'a')
			m.steps = maxSteps
		}
		if at != 0 || !errors.Is(m.err, errTooHard) {
			t.Errorf("%s: state %d, %v", text, at, m.err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("root ::= \"[\" (root (\",\" root)*)? \"]\"", "[[]]")
	f.Add("root ::= x{2,3} | [^a-z]\nx ::= \"a\"? .", "aab")
	f.Add("root ::= (a|b)* \"c\"{0,9}\na ::= \"\\u00e9\"\nb ::= a", "éc")
	f.Fuzz(func(t *testing.T, text, input string) {
		g, err := Parse(text)
		if err != nil {
			return
		}
		m := newMachine(g)
		at := m.start()
		for i := range len(input) {
			at = m.next(at, input[i])
			at = m.renew(at)
		}
		// Forgetting makes no difference.
		if m.err == nil && m.states[at].final != matches(g, input) {
			t.Errorf("%q: %q is judged in two ways", text, input)
		}
	})
}
