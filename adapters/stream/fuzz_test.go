package stream

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream/wstest"
)

// FuzzText compares the text pipeline with what it means for the whole text:
// invalid bytes replaced, cut at the stop string that completes first, or else
// an end text removed from the very end.
func FuzzText(f *testing.F) {
	f.Add("日本語###x", "###", "#x", "</s>")
	f.Add("abcd", "abcd", "bc", "d")
	f.Add("aaaab\xf0\x9f\x9a</s>", "aaab", "aab", "</s>")
	f.Add("x</s></s", "zz", "s</", "</s>")
	f.Fuzz(func(t *testing.T, text, stop1, stop2, end string) {
		stops := []string{strings.ToValidUTF8(stop1, "?"), strings.ToValidUTF8(stop2, "?")}
		end = strings.ToValidUTF8(end, "?")
		a := fake{plain: true, traits: adapters.Traits{Framing: frame.Raw, EOFIsFinish: true, EndTexts: []string{end}}}
		want := wholeText(text, stops, end) + "!stop"
		for name, r := range chunkings(text, nil) {
			if got := play(t, a, &llm.Request{Stop: stops}, r); got.text != want || got.err != nil {
				t.Fatalf("%q, stops %q, end %q, %s: got %q, %v; want %q", text, stops, end, name, got.text, got.err, want)
			}
		}
	})
}

func wholeText(text string, stops []string, end string) string {
	text = string([]rune(text)) // one U+FFFD for each byte that is no rune
	for i := range len(text) + 1 {
		longest := -1
		for _, stop := range stops {
			if stop != "" && strings.HasSuffix(text[:i], stop) {
				longest = max(longest, len(stop))
			}
		}
		if longest >= 0 {
			return text[:i-longest]
		}
	}
	return strings.TrimSuffix(text, end)
}

// FuzzCumulative plays a text that grows by bytes, as a tokenizer's does: half
// a rune is a U+FFFD. Some frames say less than the one before. What arrives is
// the text.
func FuzzCumulative(f *testing.F) {
	f.Add("naïve 🚀 text, 日本語", uint64(1))
	f.Add("a\ufffdb", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		text = strings.ToValidUTF8(text, "?")
		rnd := rand.New(rand.NewPCG(seed, 3))
		var frames []string
		for n := 0; n < len(text); {
			n = min(len(text), n+1+rnd.IntN(4))
			shown := n
			if rnd.IntN(5) == 0 {
				shown = rnd.IntN(n)
			}
			frames = append(frames, textFrame(text[:shown]))
		}
		frames = append(frames, textFrame(text))
		for name, r := range chunkings(lines(frames...), nil) {
			if got := play(t, grows, &llm.Request{}, r); got.text != text+"!stop" || got.err != nil {
				t.Fatalf("%q, %s: got %q, %v", frames, name, got.text, got.err)
			}
		}
	})
}

func textFrame(text string) string {
	for i := 0; i < utf8.UTFMax && !utf8.ValidString(text); i++ {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	b, _ := json.Marshal(map[string]string{"t": text})
	return string(b)
}

// FuzzRewritten plays texts that have nothing to do with each other: nothing
// may break, and the result may not depend on how the bytes arrive.
func FuzzRewritten(f *testing.F) {
	f.Add("it '", "it's", "it's a", "dog")
	f.Add("one ##", "one ", "one", "")
	f.Fuzz(func(t *testing.T, a, b, c, stop string) {
		body := lines(textFrame(a), textFrame(b), textFrame(c), textFrame(a), textFrame(c))
		req := &llm.Request{Stop: []string{strings.ToValidUTF8(stop, "?")}, Prompt: prompt("it")}
		want, first := outcome{}, true
		for name, r := range chunkings(body, nil) {
			got := play(t, echoes, req, r)
			if got.err != nil || !first && got != want {
				t.Fatalf("%s: got %+v, before %+v", name, got, want)
			}
			want, first = got, false
		}
	})
}

func FuzzEcho(f *testing.F) {
	f.Add("Q: é?", "Q: é?To be")
	f.Add("Q: é?", "Q: e")
	f.Add("abcabd", "abc")
	f.Fuzz(func(t *testing.T, asked, text string) {
		want := text
		if rest, ok := strings.CutPrefix(text, asked); ok {
			want = rest
		} else if strings.HasPrefix(asked, text) {
			want = ""
		}
		want = string([]rune(want)) + "!stop"
		for name, r := range chunkings(text, nil) {
			if got := play(t, parrot, &llm.Request{Prompt: prompt(asked)}, r); got.text != want || got.err != nil {
				t.Fatalf("prompt %q, text %q, %s: got %q, %v", asked, text, name, got.text, got.err)
			}
		}
	})
}

// FuzzSocket gives anything as a server's side of a WebSocket: it ends, whatever
// it is, and as it would if the bytes came one by one.
func FuzzSocket(f *testing.F) {
	f.Add([]byte(said("a", "b") + wstest.Close(1000, "x")))
	f.Add([]byte(wstest.Frame(wstest.TextBegins, "a") + wstest.Frame(wstest.Ping, "p") + wstest.Frame(wstest.Ends, "b")))
	f.Add([]byte("\x82\x7e\x00\x01a\x88\x01\x03"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		want, first := "", true
		for name, r := range chunkings(string(wire), nil) {
			out := play(t, spoken, &llm.Request{}, r)
			got := fmt.Sprintf("%q, %v", out.text, out.err)
			if !first && got != want {
				t.Fatalf("%s: got %s, before %s", name, got, want)
			}
			want, first = got, false
		}
	})
}

// FuzzMessage feeds anything to the reading and cleaning of error bodies.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"a"}}`, `{"detail":[{"msg":"a"}]}`, "<p>KEY123", `[[["KEY123"]]]`, "\xff\x00"} {
		f.Add([]byte(s))
	}
	up := &Upstream{URL: "http://10.0.0.5:1", Secrets: []string{"KEY123"}}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := up.clean(readProblem(body).Message)
		if strings.Contains(got, "KEY123") || utf8.RuneCountInString(got) > maxMessage+3 {
			t.Errorf("%q became %q", body, got)
		}
		for _, r := range got {
			if r < ' ' || r == 0x7f {
				t.Errorf("%q became %q", body, got)
			}
		}
	})
}
