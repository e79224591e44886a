package stream

import (
	"io"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

// repeat is an endless answer of the same frame.
type repeat struct {
	frame string
	at    int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.frame[r.at:])
	r.at = (r.at + n) % len(r.frame)
	return n, nil
}

// endless returns a function that pulls the next events of such an answer.
func endless(tb testing.TB, a fake, body io.Reader, req *llm.Request) func() {
	s, err := Open(tb.Context(), answering(body), a, req)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	var events []llm.Event
	return func() {
		if events, err = s.Next(events[:0]); err != nil {
			tb.Fatal(err)
		}
	}
}

func TestNothingAllocatedPerEvent(t *testing.T) {
	f := func(name string, a fake, frame string, stops ...string) {
		t.Helper()
		next := endless(t, a, &repeat{frame: frame}, &llm.Request{Stop: stops})
		for range 100 { // buffers grow
			next()
		}
		if n := testing.AllocsPerRun(1000, next); n != 0 {
			t.Errorf("%s: %v allocations per event", name, n)
		}
	}
	f("raw", plain, " some words")
	f("raw with stops held back", plain, " some ##words", "##!", "</s>")
	f("raw with cut runes", plain, "日本語 \xff \xe6")
	f("sse", events, sse(`{"i":0,"t":" word"}`), "##")
	f("websocket", messages, said(`{"i":0,"t":" word"}`))
}

// grown is a cumulative answer that grows by one word a frame up to size
// bytes, twice, so that its repetition is always another text.
func grown(size int) *repeat {
	var b strings.Builder
	for _, word := range []string{" one", " two"} {
		for text := word; len(text) <= size; text += word {
			b.WriteString(`{"t":"` + text + "\"}\x00")
		}
	}
	return &repeat{frame: b.String()}
}

func BenchmarkFrame(b *testing.B) {
	run := func(name string, a fake, body io.Reader, stops ...string) {
		b.Run(name, func(b *testing.B) {
			next := endless(b, a, body, &llm.Request{Stop: stops})
			b.ReportAllocs()
			for b.Loop() {
				next()
			}
		})
	}
	run("sse", events, &repeat{frame: sse(`{"i":0,"t":" word"}`)})
	run("sse, two stops", events, &repeat{frame: sse(`{"i":0,"t":" word"}`)}, "###", "</s>")
	run("raw", plain, &repeat{frame: " some words"})
	run("nul, cumulative, to 1 KiB", grows, grown(1<<10))
	run("nul, cumulative, to 16 KiB", grows, grown(16<<10))
}

// The text machinery of a cumulative answer alone: one comparison a frame.
func BenchmarkDelta(b *testing.B) {
	text := []byte(strings.Repeat(" word", 16<<10/5))
	d := delta{base: text[:len(text)-5]}
	b.ReportAllocs()
	for b.Loop() {
		d.base = d.base[:len(text)-5]
		if fresh, ok := d.next(text); !ok || len(fresh) != 5 {
			b.Fatal(len(fresh), ok)
		}
	}
}
