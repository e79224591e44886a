package field

import (
	"testing"

	"dragoman/test/harness"
)

// stops plays tokens through the adapters that leave stop strings to the
// gateway or may miss them.
func stops(t *testing.T, stop, shape, text string, tokens ...string) {
	t.Helper()
	all, frames := "", ""
	for _, token := range tokens {
		all += token
		frames += fastchat(all, "")
	}
	harness.Play(t, harness.Case{Adapter: "native", Script: native(tokens...) + nativeEnd("stop"), Ask: `"stop":` + stop, Shape: shape, Text: text})
	harness.Play(t, harness.Case{Adapter: "fastchat", Script: frames + fastchat(all, "stop"), Ask: `"stop":` + stop, Shape: shape, Text: text})
	harness.Play(t, harness.Case{Adapter: "openai", Script: openai("stop", tokens...), Whole: whole(all, "stop"), Ask: `"stop":` + stop, Shape: shape, Text: text})
}

// BC-043: the text before a stop inside one token was lost.
func TestBC043TextBeforeTheStop(t *testing.T) {
	stops(t, `["\n"]`, "R C F=stop D", " Mars?", " Mars", "?\n")
	stops(t, `["END"]`, "R C F=stop D", "a", "aEN", "Dmore", " and more")
	stops(t, `["abc","b"]`, "R C F=stop D", "xa", "xa", "bc") // b completes first
	stops(t, `["bc","abc"]`, "R C F=stop D", "x", "xab", "c") // both complete at once: abc began first
}

// BC-044: text held back as a possible stop was not sent in the end.
func TestBC044HeldTextIsSent(t *testing.T) {
	stops(t, `["TRE\nAAAA"]`, "R C F=stop D", "UNO TRE", "UNO ", "TRE")
	harness.Play(t, harness.Case{
		Adapter: "native", Script: native("UNO ", "TRE") + `{"error":{"code":"engine_error","message":"x"}}⏎`,
		Ask: `"stop":["TRE\nAAAA"]`, Shape: "R C E D", Text: "UNO TRE", Status: 502,
	})
}

// BC-046: a stop at the very start, five of them, one as a plain string.
func TestBC046OddStops(t *testing.T) {
	stops(t, `["Hello"]`, "R F=stop D", "", "Hello there")
	stops(t, `"x"`, "R C F=stop D", "a", "a", "x", "b")
	stops(t, `["a","b","c","d"]`, "R C F=stop D", "x", "x", "d")
	backend := harness.Script(t, native("a")+nativeEnd("stop"))
	base := harness.Gateway(t, harness.Case{Adapter: "native"}.Config(backend.URL))
	harness.Chat(t, base, `"stop":["1","2","3","4","5"]`).Want(t, 400, "invalid_value", "stop")
}
