package field

import (
	"strings"
	"testing"

	"dragoman/test/harness"
)

// BC-033: the bytes of one read were decoded alone, so a character that the
// network cut became U+FFFD.
func TestBC033CutRunes(t *testing.T) {
	harness.Play(t, harness.Case{
		Adapter: "openai", Whole: whole("修复", "stop"), Shape: "R C F=stop D", Text: "修复",
		Script: `data: {"choices":[{"index":0,"delta":{"content":"<E4>¦<BF AE>复"},"finish_reason":null}]}⏎⏎` + openai("stop"),
	})
	harness.Play(t, harness.Case{Adapter: "raw", Script: "<E4>¦<BF>¦<AE>复😀", Shape: "R C F=stop D", Text: "修复😀"})
	harness.Play(t, harness.Case{
		Adapter: "native", Script: `{"id":1,"bytes":"5A=="}⏎¦{"id":2,"bytes":"v64="}⏎¦` + native("复") + nativeEnd("stop"),
		Shape: "R C F=stop D", Text: "修复",
	})
}

// BC-034: bytes that are no UTF-8 aborted the server.
func TestBC034InvalidBytes(t *testing.T) {
	want := "ok \uFFFD\uFFFD("
	harness.Play(t, harness.Case{Adapter: "raw", Script: "ok <FF C3>(", Shape: "R C F=stop D", Text: want})
	harness.Play(t, harness.Case{Adapter: "native", Script: native("ok ") + `{"id":1,"bytes":"/w=="}⏎{"id":2,"bytes":"ww=="}⏎` + native("(") + nativeEnd("stop"), Shape: "R C F=stop D", Text: want})
	harness.Play(t, harness.Case{Adapter: "raw", Script: "cut <F0 9F 98>", Shape: "R C F=stop D", Text: "cut \uFFFD\uFFFD\uFFFD"})
}

// BC-036: text that repeats was taken for an echo and dropped.
func TestBC036Repeats(t *testing.T) {
	line := "from collections import deque;"
	tokens := []string{"ha", "ha", "ha", line, line}
	want := strings.Join(tokens, "")
	harness.Play(t, harness.Case{Adapter: "openai", Script: openai("stop", tokens...), Whole: whole(want, "stop"), Shape: "R C F=stop D", Text: want})
	harness.Play(t, harness.Case{Adapter: "native", Script: native(tokens...) + nativeEnd("stop"), Shape: "R C F=stop D", Text: want})
}

// BC-038: leading blanks of tokens were lost.
func TestBC038Blanks(t *testing.T) {
	tokens := []string{" Dear", " Sir", "\n\n  -", " x", "\t", " ", "\n"}
	want := strings.Join(tokens, "")
	harness.Play(t, harness.Case{Adapter: "native", Script: native(tokens...) + nativeEnd("stop"), Shape: "R C F=stop D", Text: want})
	harness.Play(t, harness.Case{Adapter: "openai", Script: openai("stop", tokens...), Whole: whole(want, "stop"), Shape: "R C F=stop D", Text: want})
	harness.Play(t, harness.Case{Adapter: "fastchat", Script: fastchat(" Dear", "") + fastchat(" Dear Sir\n", "") + fastchat(" Dear Sir\n ", "stop"), Shape: "R C F=stop D", Text: " Dear Sir\n "})
	harness.Play(t, harness.Case{Adapter: "raw", Script: " a¦ ¦⏎b ⏎", Shape: "R C F=stop D", Text: " a \nb \n"})
}

// BC-039, BC-040: end markers were shown; they are cut where they are listed,
// and only at the very end.
func TestBC039EndTexts(t *testing.T) {
	f := func(script, want string) {
		t.Helper()
		harness.Play(t, harness.Case{Adapter: "raw", Options: `template: plain, end_texts: ["</s>", "<|im_end|>"]`, Script: script, Shape: "R C F=stop D", Text: want})
	}
	f("Hi</s>", "Hi")
	f("Hi¦</¦s>", "Hi")
	f("Sure¦<|im_¦end|>", "Sure")
	f("print </s> like `<|im_end|>` this", "print </s> like `<|im_end|>` this")
	f("half </", "half </")
}

// BC-040, with a template: its turn marker ends the answer wherever it comes,
// for a model that runs past it writes the user's next turn.
func TestBC040TurnMarkers(t *testing.T) {
	tokens := []string{"Sure", "<|im_", "end|>", "\n<|im_start|>user"}
	harness.Play(t, harness.Case{Adapter: "native", Script: native(tokens...) + nativeEnd("length"), Shape: "R C F=stop D", Text: "Sure"})
	harness.Play(t, harness.Case{Adapter: "raw", Script: strings.Join(tokens, "¦"), Shape: "R C F=stop D", Text: "Sure"})
}

// BC-041: an empty list of stops replaced the template's own, so markers leaked.
func TestBC041EmptyStops(t *testing.T) {
	for _, stop := range []string{`"stop":[]`, `"stop":null`, `"stop":""`} {
		harness.Play(t, harness.Case{
			Adapter: "fastchat", Ask: stop, Shape: "R C F=stop D", Text: "Hi",
			Script: fastchat("Hi", "") + fastchat("Hi<|im_end|>", "") + fastchat("Hi<|im_end|>\n<|im_start|>user", "length"),
		})
	}
	backend := harness.Script(t, fastchat("Hi", "stop"))
	base := harness.Gateway(t, harness.Case{Adapter: "fastchat"}.Config(backend.URL))
	harness.Chat(t, base, `"stop":[""]`).Want(t, 400, "invalid_value", "stop[0]")
}
