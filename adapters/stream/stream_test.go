package stream

import (
	"errors"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// The adapters of the tests.
var (
	deltas = fake{traits: adapters.Traits{Framing: frame.NDJSON}}
	events = fake{traits: adapters.Traits{Framing: frame.SSE, EndMarker: "[DONE]"}}
	grows  = fake{traits: adapters.Traits{Framing: frame.NDJSON, Cumulative: true, EOFIsFinish: true}}
	echoes = fake{traits: adapters.Traits{Framing: frame.NDJSON, Cumulative: true, EchoPrompt: true, EOFIsFinish: true}}
	plain  = fake{plain: true, traits: adapters.Traits{Framing: frame.Raw, EOFIsFinish: true}}
	marked = fake{plain: true, traits: adapters.Traits{Framing: frame.Raw, EOFIsFinish: true, EndTexts: []string{"</s>", "<|im_end|>"}}}
	parrot = fake{plain: true, traits: adapters.Traits{Framing: frame.Raw, EOFIsFinish: true, EchoPrompt: true}}
)

// lines joins frames of newline-delimited JSON; sse makes events of them.
func lines(frames ...string) string { return strings.Join(frames, "\n") + "\n" }

func sse(frames ...string) string { return "data: " + strings.Join(frames, "\n\ndata: ") + "\n\n" }

// check plays body at all chunkings; end is nil for a proper end. wantErr is a
// part of the error's message, "" for none.
func check(t *testing.T, a fake, req llm.Request, body string, end error, want, wantErr string) {
	t.Helper()
	for name, r := range chunkings(body, end) {
		got := play(t, a, &req, r)
		if got.text != want || (got.err == nil) != (wantErr == "") || got.err != nil && !strings.Contains(got.err.Error(), wantErr) {
			t.Errorf("%q, %s: got %q, %v; want %q, %q", body, name, got.text, got.err, want, wantErr)
		}
		if e := (*llm.Error)(nil); got.err != nil && !errors.As(got.err, &e) {
			t.Errorf("%q, %s: not an *llm.Error: %v", body, name, got.err)
		}
	}
}

func TestFinish(t *testing.T) {
	f := func(a fake, body, want, wantErr string) {
		t.Helper()
		check(t, a, llm.Request{}, body, nil, want, wantErr)
	}
	const unsaid = "without saying why"
	f(deltas, lines(`{"t":"ab"}`, `{"t":"c","f":"stop"}`), "abc!stop", "")
	f(deltas, lines(`{"t":"ab"}`, `{"f":"length"}`), "ab!length", "")
	f(deltas, lines(`{"f":"stop"}`), "!stop", "")
	f(deltas, lines(`{"t":"ab"}`), "ab", unsaid)
	f(deltas, "", "", unsaid)
	f(plain, "abc", "abc!stop", "")
	f(plain, "", "!stop", "")
	// The end mark: with and without a reason (decides BC-018).
	f(events, sse(`{"t":"x"}`, `{"f":"stop"}`), "x!stop", "")
	f(events, sse(`{"t":"x"}`, `{"f":"stop"}`, "[DONE]"), "x!stop", "")
	f(events, sse(`{"t":"x"}`, `{"f":"stop"}`, "[DONE]", "[DONE]"), "x!stop", "")
	f(events, sse(`{"t":"x"}`, "[DONE]", `{"t":"y"}`), "x!stop", "")
	f(events, sse(`{"tool":"{}"}`, "[DONE]"), "{{}}!tool_calls", "")
	f(events, sse("[DONE]"), "", unsaid)
	f(events, sse(`{"p":3}`, "[DONE]"), "", unsaid)
	f(events, sse(`{"t":"x"}`), "x", unsaid)
	// Nothing of a choice after its finish, and only one finish.
	f(deltas, lines(`{"t":"a","f":"stop"}`, `{"t":"b"}`, `{"f":"length"}`, `{"tool":"{}"}`), "a!stop", "")
	f(deltas, lines(`{"t":"a","f":"stop"}`, `{"error":"late"}`, `garbage`), "a!stop", "")
	// tool_calls replaces stop and nothing else (BC-008, BC-009).
	f(deltas, lines(`{"tool":"{}"}`, `{"f":"stop"}`), "{{}}!tool_calls", "")
	f(deltas, lines(`{"tool":"{}"}`, `{"f":"length"}`), "{{}}!length", "")
	f(deltas, lines(`{"tool":"{}","f":"content_filter"}`), "{{}}!content_filter", "")
	f(deltas, lines(`{"r":"why"}`, `{"t":"so"}`, `{"f":"stop"}`), "(why)so!stop", "")
}

// A finish that is missing is an error, whatever ended the answer (BC-016).
func TestBrokenOff(t *testing.T) {
	f := func(a fake, body, want, wantErr string) {
		t.Helper()
		check(t, a, llm.Request{}, body, errReset, want, wantErr)
	}
	f(deltas, lines(`{"t":"To be"}`, `{"t":" or"}`), "To be or", "broke off")
	f(plain, "To be or", "To be or", "broke off")
	f(grows, lines(`{"t":"To be"}`, `{"t":"To be or"}`)+`{"t":"To`, "To be or", "broke off")
	f(events, sse(`{"t":"x"}`)+"data: [DONE]", "x", "broke off")
	f(deltas, "", "", "connection to the backend failed.")
	f(deltas, lines(`{"t":"x","f":"stop"}`), "x!stop", "") // complete all the same
	check(t, deltas, llm.Request{}, lines(`{"t":"x"}`)+`{"t":"y`, nil, "x", "broke off")
	check(t, events, llm.Request{}, sse(`{"t":"x"}`)+`data: {"t":"y`, nil, "x", "broke off")
}

func TestErrorsInFrames(t *testing.T) {
	f := func(body, want, wantErr string) {
		t.Helper()
		check(t, deltas, llm.Request{Stop: []string{"TRE\nAAAA"}}, body, nil, want, wantErr)
	}
	f(lines(`{"error":"busy"}`, `{"t":"x"}`), "", "busy")
	f(lines(`{"t":"A"}`, `{"error":"out of memory"}`, `{"f":"stop"}`), "A", "out of memory")
	f(lines(`{"t":"A"}`, `internal failure, try later`), "A", "not understood: internal failure, try later") // BC-022
	f(lines(`{"t":"A"}`, `{"t":`), "A", "not understood")
	f(lines(`{"t":"A"}`, `{"x":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}`), "A", "not understood") // BC-088
	f(lines(`{"t":"UNO "}`, `{"t":"TRE"}`, `{"error":"boom"}`), "UNO TRE", "boom")                                  // BC-044
}

// BC-030: a frame over the limit is an error that names it.
func TestFrameTooLong(t *testing.T) {
	up := answering(strings.NewReader(lines(`{"t":"a"}`, `{"t":"`+strings.Repeat("x", 5000)+`"}`, `{"f":"stop"}`)))
	up.MaxFrame = 1000
	s, err := Open(t.Context(), up, deltas, &llm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if ev, err := s.Next(nil); err != nil || string(ev[0].Text) != "a" {
		t.Fatalf("got %v, %v", ev, err)
	}
	if _, err := s.Next(nil); err == nil || !strings.Contains(err.Error(), "limit of 1000 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestChoices(t *testing.T) {
	f := func(a fake, n int, body, want, wantErr string) {
		t.Helper()
		check(t, a, llm.Request{N: n, Stop: []string{"##"}}, body, nil, want, wantErr)
	}
	f(deltas, 2, lines(`{"t":"a"}`, `{"i":1,"t":"b#"}`, `{"i":0,"t":"A","f":"stop"}`, `{"i":1,"t":"B","f":"length"}`), "aA!stop / b#B!length", "")
	f(deltas, 2, lines(`{"t":"a#"}`, `{"i":1,"t":"b"}`, `{"t":"#x"}`, `{"t":"y"}`, `{"i":1,"f":"stop"}`), "a!stop / b!stop", "")
	f(deltas, 2, lines(`{"t":"a","f":"stop"}`), "a!stop / ", "without saying why") // BC-058: never one of two
	f(grows, 2, lines(`{"t":"a"}`, `{"i":1,"t":"b"}`, `{"t":"aa"}`, `{"i":1,"t":"bb"}`), "aa!stop / bb!stop", "")
	f(deltas, 2, lines(`{"t":"a"}`, `{"i":2,"t":"b"}`), "a / ", "choice 2 of 2")
	f(deltas, 2, lines(`{"t":"a","f":"stop"}`, `{"i":1,"f":"stop"}`, `{"i":7,"t":"b"}`), "a!stop / !stop", "")
	// Where one choice was asked for, an index means nothing.
	f(deltas, 1, lines(`{"i":0,"t":"a"}`, `{"i":1,"t":"b"}`, `{"i":2,"f":"stop"}`), "ab!stop", "")
	f(deltas, 0, lines(`{"i":-4,"t":"a","f":"stop"}`), "a!stop", "")
}

// Text that each frame repeats: decided by comparison, never by length.
func TestCumulative(t *testing.T) {
	f := func(want string, frames ...string) {
		t.Helper()
		check(t, grows, llm.Request{}, lines(frames...), nil, want, "")
	}
	f("Hello world!stop", `{"t":""}`, `{"t":"Hel"}`, `{"t":"Hello wor"}`, `{"t":"Hello world"}`, `{"t":"Hello world","f":"stop"}`)
	f("ab!stop", `{"t":"ab"}`, `{"t":"ab"}`, `{"f":"stop"}`)
	f("one ##!stop", `{"t":"one ##"}`, `{"t":"one ","f":"stop"}`)               // a stop string was cut out
	f("abcd!stop", `{"t":"abc"}`, `{"t":"ab"}`, `{"t":"abcd"}`)                 // never sent again
	f("abc!stop", `{"t":"abc"}`, `{"t":"a"}`, `{"t":"ab"}`, `{"t":"abc"}`)      // shorter, then as before
	f("wrold!!stop", `{"t":"wrold"}`, `{"t":"world"}`, `{"t":"world!"}`)        // rewritten: goes on from there
	f("it 's a dog!stop", `{"t":"it '"}`, `{"t":"it's"}`, `{"t":"it's a dog"}`) // a tokenizer tidied up
	f("Hello , you!stop", `{"t":"Hello ,"}`, `{"t":"Hello, you"}`)
	f("naïve 🚀!stop", `{"t":"na\ufffd"}`, `{"t":"naïve "}`, `{"t":"naïve \ufffd\ufffd"}`, `{"t":"naïve 🚀"}`) // half a rune, then whole
	f("a\ufffdb!stop", `{"t":"a\ufffd"}`, `{"t":"a\ufffdb"}`)                                                // it was meant
	f("a\ufffd!stop", `{"t":"a\ufffd"}`, `{"t":"a\ufffd","f":"stop"}`)
	f("a\ufffd!stop", `{"t":"a"}`, `{"t":"a\ufffd"}`)
}

func TestEcho(t *testing.T) {
	req := llm.Request{Prompt: llm.Prompt{{Text: "<s>", Special: true}, {Text: "Q: é?"}}}
	f := func(a fake, body, want string) {
		t.Helper()
		check(t, a, req, body, nil, want, "")
	}
	f(echoes, lines(`{"t":"<s>Q: é?"}`, `{"t":"<s>Q: é?To be"}`, `{"t":"<s>Q: é?To be or"}`), "To be or!stop")
	f(echoes, lines(`{"t":"<s>Q: é?"}`), "!stop")
	f(echoes, lines(`{"t":"Q: é?To be"}`, `{"t":"Q: é?To be or"}`), "Q: é?To be or!stop") // decoded without special tokens: no echo
	f(parrot, "<s>Q: é?<s>Q: é?", "<s>Q: é?!stop")                                        // once only
	f(parrot, "<s>Q: e?x", "<s>Q: e?x!stop")
	f(parrot, "<s>Q: \xc3", "!stop")
}

// Whole runes, and one U+FFFD for each byte that can never be part of one
// (BC-033, BC-034).
func TestRunes(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		check(t, plain, llm.Request{}, body, nil, want+"!stop", "")
	}
	f("日本語 🚀 ok", "日本語 🚀 ok")
	f("ok \xff\xc3(", "ok \ufffd\ufffd(")
	f("\xe4\xbf", "\ufffd\ufffd")
	f("\xf0\x9f\x9a", "\ufffd\ufffd\ufffd")
	f("\xf0\x9f\x9ax\x80", "\ufffd\ufffd\ufffdx\ufffd")
	f("\xed\xa0\x80", "\ufffd\ufffd\ufffd")
	f("\xc0\x80", "\ufffd\ufffd")
	check(t, plain, llm.Request{}, "ok\xe4\xbf", errReset, "ok", "broke off")
	// In JSON too, where a token may end inside a rune.
	check(t, deltas, llm.Request{}, lines("{\"t\":\"a\xe4\"}", "{\"t\":\"\xbf\xaeb\",\"f\":\"stop\"}"), nil, "a修b!stop", "")
	check(t, deltas, llm.Request{}, lines("{\"r\":\"a\xe4\"}", "{\"r\":\"\xbf\xae\"}", "{\"tool\":\"\xff\",\"f\":\"stop\"}"), nil, "(a修){\ufffd}!tool_calls", "")
}

func TestStops(t *testing.T) {
	f := func(a fake, body, want string, stops ...string) {
		t.Helper()
		check(t, a, llm.Request{Stop: stops}, body, nil, want, "")
	}
	f(plain, "one\n###two", "one\n!stop", "###")
	f(plain, "a##b#", "a##b#!stop", "###")
	f(plain, " Mars?\n", " Mars?!stop", "\n")                           // BC-043
	f(plain, "UNO TRE", "UNO TRE!stop", "TRE\nAAAA")                    // BC-044
	f(plain, "Hello there", "!stop", "Hello")                           // BC-046
	f(plain, "abcd", "a!stop", "abcd-no", "bc")                         // the first to complete
	f(plain, "abcd", "!stop", "c", "abc")                               // together: the one that began first
	f(plain, "aaab", "!stop", "aaa", "aab")                             // overlapping itself
	f(plain, "ababac", "ab!stop", "abac")                               // falls back, not to the start
	f(plain, "日本語", "日!stop", "本")                                      // inside what is cut into bytes
	f(plain, "a\xff", "a!stop", "\ufffd")                               // what the client would see counts
	f(deltas, lines(`{"t":"a#"}`, `{"f":"length"}`), "a#!length", "##") // flushed at the end
	f(deltas, lines(`{"t":"a##b","f":"length"}`), "a!stop", "##")
	f(deltas, lines(`{"t":"a##","tool":"{}"}`), "a!stop", "##")
	f(grows, lines(`{"t":"a#"}`, `{"t":"a##b"}`, `{"t":"a##bc"}`), "a!stop", "##")
	f(grows, lines(`{"t":"a\ufffd"}`), "a!stop", "\ufffd")
	check(t, plain, llm.Request{Stop: []string{"TREX"}}, "UNO TRE", errReset, "UNO TRE", "broke off")
}

func TestEndTexts(t *testing.T) {
	f := func(body, want string, stops ...string) {
		t.Helper()
		check(t, marked, llm.Request{Stop: stops}, body, nil, want, "")
	}
	f("Hi</s>", "Hi!stop")
	f("Hi<|im_end|>", "Hi!stop")
	f("a </s> b </s> c", "a </s> b </s> c!stop")
	f("Hi</s", "Hi</s!stop")
	f("</s>", "!stop")
	f("</s></s>", "</s>!stop")
	f("Hi</s>\n", "Hi</s>\n!stop")
	f("Hi</s>xyz", "Hi</s>x!stop", "yz")
	check(t, marked, llm.Request{}, "Hi</s>", errReset, "Hi</s>", "broke off")
}

// An answer that is cut after any of its frames is an error and has no finish,
// properly ended or not.
func TestCutAfterEveryFrame(t *testing.T) {
	f := func(a fake, join func(...string) string, frames ...string) {
		t.Helper()
		for n := range frames {
			for _, end := range []error{nil, errReset} {
				body := ""
				if n > 0 {
					body = join(frames[:n]...)
				}
				for name, r := range chunkings(body, end) {
					if got := play(t, a, &llm.Request{Stop: []string{"##"}}, r); got.err == nil || strings.Contains(got.text, "!") {
						t.Errorf("%q, %s, %v: got %q, %v", body, name, end, got.text, got.err)
					}
				}
			}
		}
	}
	f(deltas, lines, `{"t":"a"}`, `{"t":"b#"}`, `{"r":"c"}`, `{"tool":"{}"}`, `{"f":"stop"}`)
	f(events, sse, `{"t":"a"}`, `{"t":"b"}`, `{"t":"c","f":"length"}`)
}
