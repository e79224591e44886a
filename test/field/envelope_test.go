package field

import (
	"fmt"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// BC-002: chunks with `"role":""` broke typed clients.
func TestBC002EmptyRole(t *testing.T) {
	harness.Play(t, harness.Case{
		Adapter: "openai",
		Script: `data: {"choices":[{"index":0,"delta":{"role":"","content":"Hi"}}]}⏎⏎¦` +
			`data: {"choices":[{"index":0,"delta":{"role":"","content":"!"}}]}⏎⏎¦` +
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}⏎⏎¦data: [DONE]⏎⏎`,
		Whole: `{"choices":[{"index":0,"message":{"role":"","content":"Hi!"},"finish_reason":"stop"}]}`,
		Shape: "R C F=stop D", Text: "Hi!",
	})
}

// BC-004: every chunk had an id of its own, so clients showed N messages.
func TestBC004OneID(t *testing.T) {
	backend := harness.Script(t, fastchat("A", "")+fastchat("AB", "")+fastchat("AB", "stop"))
	base := harness.Gateway(t, harness.Case{Adapter: "fastchat"}.Config(backend.URL))
	seen := map[string]bool{}
	for range 3 {
		seen[harness.Chat(t, base, `"stream":true,"stream_options":{"include_usage":true}`).Check(t, true).ID] = true
	}
	if len(seen) != 3 {
		t.Errorf("three requests have %d ids", len(seen))
	}
}

// BC-006: finish_reason was left out of chunks that are not the last.
func TestBC006FinishReasonInEveryChunk(t *testing.T) {
	f := func(c harness.Case) {
		t.Helper()
		c.Shape, c.Text = "R C F=stop D", "one two"
		harness.Play(t, c) // Check looks for index, delta and finish_reason in each chunk
	}
	f(harness.Case{Adapter: "fastchat", Script: fastchat("one", "") + fastchat("one two", "") + fastchat("one two", "stop")})
	f(harness.Case{Adapter: "native", Script: native("one", " two") + nativeEnd("stop")})
	f(harness.Case{Adapter: "openai", Script: sse(`{"choices":[{"delta":{"content":"one"}}]}`, `{"choices":[{"delta":{"content":" two"}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]"), Whole: whole("one two", "stop")})
}

// BC-007: the backends' own finish words reached clients.
func TestBC007FinishWords(t *testing.T) {
	f := func(c harness.Case, finish string) {
		t.Helper()
		c.Shape, c.Text = "R C F="+finish+" D", "Hi"
		harness.Play(t, c)
	}
	f(harness.Case{Adapter: "fastchat", Script: fastchat("Hi", "") + fastchat("Hi", "stop")}, "stop")
	f(harness.Case{Adapter: "fastchat", Script: fastchat("Hi", "") + fastchat("Hi", "eos")}, "stop")
	f(harness.Case{Adapter: "fastchat", Script: fastchat("Hi", "") + fastchat("Hi", "length")}, "length")
	f(harness.Case{Adapter: "native", Script: native("Hi") + nativeEnd("length")}, "length")
	for native, public := range map[string]string{"eos": "stop", "zzz": "stop", "length": "length", "content_filter": "content_filter", "max_tokens": "length"} {
		f(harness.Case{Adapter: "openai", Whole: whole("Hi", native), Script: sse(`{"choices":[{"index":0,"delta":{"content":"Hi"}}]}`,
			fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, native), "[DONE]")}, public)
	}
}

// BC-010: the chunk that held finish_reason and usage was dropped whole.
func TestBC010FinishWithUsage(t *testing.T) {
	script := sse(`{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":null}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`, "[DONE]")
	harness.Play(t, harness.Case{Adapter: "openai", Script: script, Whole: whole("ok", "stop"), Shape: "R C F=stop D", Text: "ok"})
	harness.Play(t, harness.Case{
		Adapter: "openai", Script: script, Whole: whole("ok", "stop"), Shape: "R C F=stop U D", Text: "ok",
		Ask: `"stream_options":{"include_usage":true}`, Check: wantUsage(3, 1, 4),
	})
}

// BC-012: a usage chunk came though the client had not asked.
func TestBC012UsageOnlyWhenAsked(t *testing.T) {
	for _, c := range []harness.Case{
		{Adapter: "fastchat", Script: fastchat("Hi", "") + fastchat("Hi", "stop")},
		{Adapter: "native", Script: native("H", "i") + nativeEnd("stop")},
	} {
		c.Shape, c.Text = "R C F=stop D", "Hi"
		harness.Play(t, c)
		c.Shape, c.Ask, c.Check = "R C F=stop U D", `"stream_options":{"include_usage":true}`, wantUsage(7, 2, 9)
		harness.Play(t, c)
	}
}

// BC-014: chunks with choices missing, empty or hollow crashed the transform.
func TestBC014HollowChoices(t *testing.T) {
	for _, last := range []string{
		`{"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
		`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
		`{"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
		`{"choices":[{"index":0,"delta":{}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
	} {
		harness.Play(t, harness.Case{
			Adapter: "openai", Whole: whole("a", "stop"), Shape: "R C F=stop U D", Text: "a",
			Ask: `"stream_options":{"include_usage":true}`, Check: wantUsage(1, 1, 2),
			Script: sse(`{"prompt_filter_results":[]}`, `{"choices":[{"index":0,"delta":{"content":"a"}}]}`,
				`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, last, "[DONE]"),
		})
	}
}

func wantUsage(prompt, completion, total int) func(*testing.T, *harness.Stream) {
	return func(t *testing.T, s *harness.Stream) {
		t.Helper()
		want := fmt.Sprintf(`"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d`, prompt, completion, total)
		if !strings.Contains(s.Usage, want) || strings.Contains(s.Usage, "estimated") {
			t.Errorf("usage %s, want %s", s.Usage, want)
		}
	}
}
