package grammar

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// vocabulary makes one of these tokens; the empty ones can be no text, and those
// that are <end> end an answer.
func vocabulary(tokens ...string) *Vocabulary {
	var ends []int32
	for i, t := range tokens {
		if t == "<end>" {
			ends = append(ends, int32(i))
		}
	}
	return NewVocabulary(len(tokens), func(dst []byte, id int32) []byte { return append(dst, tokens[id]...) }, ends)
}

// kept returns the ids that Keep lets through.
func kept(m *Matcher) (ids []int32) {
	n := len(m.v.at)
	dst, logits := make([]float32, n), make([]float32, n)
	for i := range logits {
		logits[i] = float32(i)
	}
	m.Keep(dst, logits)
	for i, l := range dst {
		if l == float32(i) {
			ids = append(ids, int32(i))
		} else if !math.IsInf(float64(l), -1) {
			panic("neither kept nor impossible")
		}
	}
	return ids
}

func TestMatcher(t *testing.T) {
	v := vocabulary("", `{`, `"`, `a`, `b`, `":`, `{"a`, `":1}`, `}`, `1`, `<end>`, `1}}`, ` `, `{"b`, `":1} `, `{"a":`)
	m := schemaOf(t, `{"properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`).NewMatcher(v)
	f := func(said string, want ...string) {
		t.Helper()
		if said != "" {
			m.Accept(v.tokens[slices.IndexFunc(v.tokens, func(one token) bool { return string(one.bytes) == said })].id)
		}
		var got []string
		for _, id := range kept(m) {
			if v.end[id] {
				got = append(got, "<end>")
			} else {
				got = append(got, string(v.tokens[v.at[id]].bytes))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %s: got %q, want %q", said, got, want)
		}
		for id := range int32(len(v.at)) {
			if m.Allows(id) != slices.Contains(kept(m), id) {
				t.Errorf("after %s: Allows and Keep differ about token %d", said, id)
			}
		}
	}
	f("", "{", `{"a`, `{"a":`)
	f("{", `"`, " ")
	f(" ", `"`)
	f(`"`, "a")
	f("a", `"`, `":`, `":1}`)
	f(`":`, "1", " ")
	f("1", "}", "1", " ")
	if m.Done() {
		t.Error("it is done before the end")
	}
	f("}", "<end>")
	if !m.Done() || m.Allows(-1) || m.Allows(99) {
		t.Error("it is not done")
	}
}

// Where a text may end or go on, both are possible.
func TestMatcherMayEnd(t *testing.T) {
	v := vocabulary("1", "<end>", "<end>", "x", "\xff", ".5")
	m := schemaOf(t, `{"type":"number"}`).NewMatcher(v)
	if got := kept(m); !slices.Equal(got, []int32{0}) {
		t.Errorf("at first: %v", got)
	}
	m.Accept(0)
	if got := kept(m); !slices.Equal(got, []int32{0, 1, 2, 5}) || m.Done() {
		t.Errorf("then: %v", got)
	}
	m.Accept(1) // the end makes no difference
	if got := kept(m); !slices.Equal(got, []int32{0, 1, 2, 5}) {
		t.Errorf("after the end: %v", got)
	}
	m.Accept(3)
	if got := kept(m); got != nil || m.Done() || m.Err() != nil {
		t.Errorf("after what may not come: %v", got)
	}
}

// Keep finds what trying each token finds, wherever an answer is, and with many
// tokens that begin alike.
func TestKeepIsAllowsForAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tokens := []string{"<end>"}
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteString([]string{`"`, `{`, `}`, `:`, `,`, `[`, `]`, `a`, `1`, `é`, " ", "\n", `\`, `u00`, `true`, "\xc3", "\xa9", "e", "-"}[r.IntN(19)])
		}
		tokens = append(tokens, b.String())
	}
	for c := range 256 {
		tokens = append(tokens, string([]byte{byte(c)}))
	}
	v := vocabulary(tokens...)
	for _, schema := range []string{`{}`, `{"type":"string","minLength":3,"maxLength":40}`, `{"items":{"anyOf":[{"type":"integer"},{"type":"string"}]}}`, `{"type":"string","pattern":"^(a|é|1)+$"}`} {
		m := schemaOf(t, schema).NewMatcher(v)
		for range 60 {
			got := kept(m)
			for id := range int32(len(tokens)) {
				if m.Allows(id) != slices.Contains(got, id) {
					t.Fatalf("%s: Allows and Keep differ about %q", schema, tokens[id])
				}
			}
			if len(got) == 0 || m.Done() {
				break
			}
			m.Accept(got[r.IntN(len(got))])
		}
		if m.Err() != nil {
			t.Errorf("%s: %v", schema, m.Err())
		}
	}
}

// A long answer does not make the memory grow without end.
func TestMemoryIsBounded(t *testing.T) {
	v := vocabulary("[", "]", "1", ",", "<end>")
	m := schemaOf(t, `{"items":{"type":["array","integer"],"maxItems":100000},"maxItems":1000000}`).NewMatcher(v)
	m.Accept(0)
	for i := range 3 * maxStates {
		m.Accept(2)
		m.Accept(3)
		if m.Err() != nil || !m.Allows(2) {
			t.Fatalf("after %d items: %v", i, m.Err())
		}
		if n := len(m.m.states); n > maxStates+1000 {
			t.Fatalf("after %d items there are %d states", i, n)
		}
	}
	m.Accept(2)
	m.Accept(1)
	if !m.Done() {
		t.Error("it is not done")
	}
}

func TestGate(t *testing.T) {
	tokens := []string{"<end>", "a", "</", "think>", "{", "}", "x</think>", "</think>\n", "</think>{", "</think>a", "END", ">\n {}"}
	v := vocabulary(tokens...)
	text := func(dst []byte, id int32) []byte { return append(dst, tokens[id]...) }
	f := func(said string, want string) {
		t.Helper()
		g := NewGate(schemaOf(t, `{"type":"object"}`).NewMatcher(v), []string{"</think>", "END"}, text)
		for _, token := range strings.Fields(strings.ReplaceAll(said, "\n", "~")) {
			id := int32(slices.Index(tokens, strings.ReplaceAll(token, "~", "\n")))
			if !g.Allows(id) {
				t.Errorf("%s: %q is refused", said, tokens[id])
			}
			g.Accept(id)
		}
		dst, logits := make([]float32, len(tokens)), make([]float32, len(tokens))
		g.Keep(dst, logits)
		got := ""
		for id, l := range dst {
			if (l == 0) != g.Allows(int32(id)) {
				t.Errorf("%s: Allows and Keep differ about %q", said, tokens[id])
			}
			if l == 0 {
				got += "|" + strings.ReplaceAll(tokens[id], "\n", "~")
			}
		}
		if want != "done" && (got != want || g.Done()) || want == "done" && !g.Done() || g.Err() != nil {
			t.Errorf("%s: got %s, done %t, want %s", said, got, g.Done(), want)
		}
	}
	const all = "|a|</|think>|{|}|x</think>|</think>~|</think>{|END"
	f("", all+"|>~ {}")
	f("a { </ a", all+"|>~ {}")
	f("</ think>", "|{")
	f("x</think>", "|{")
	f("a </think>\n", "|{")
	f("END", "|{")
	f("</think>{", "|}")
	f("</think>{ }", "done")
}

// BenchmarkMatcher is a string in a large vocabulary: trying one token, and all.
func BenchmarkMatcher(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := []rune("etaoinshrdlucmfwypvbgkjqxz        \"\\{}[],:0123456789éß한字\n")
	tokens := []string{"<end>"}
	for range 150_000 {
		var t []rune
		for range 1 + r.IntN(8) {
			t = append(t, letters[r.IntN(len(letters))])
		}
		tokens = append(tokens, string(t))
	}
	v := vocabulary(tokens...)
	g, err := Schema([]byte(`{"properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"integer"}}},"required":["a","b"]}`))
	if err != nil {
		b.Fatal(err)
	}
	m := g.NewMatcher(v)
	for _, c := range `{"a": "` {
		m.at = m.m.next(m.at, byte(c))
	}
	dst, logits := make([]float32, len(tokens)), make([]float32, len(tokens))
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			m.Allows(77)
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			m.Keep(dst, logits)
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			m := g.NewMatcher(v)
			for _, c := range `{"a": "` {
				m.at = m.m.next(m.at, byte(c))
			}
			m.Keep(dst, logits)
		}
	})
}
