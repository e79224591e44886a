package field

import (
	"strings"
	"testing"

	"dragoman/test/harness"
)

// BC-024: an adapter took one read for one JSON object, and a cut \u escape for
// the end of the world.
func TestBC024CutFrames(t *testing.T) {
	script := `{"text":"caf\u00¦e9","error_code":0,"finish_reason":null}␀{"text":"caf\u00e9 au","error_code":0,"finish_reason":null}¦␀` +
		`{"text":"caf\u00e9 au lait","error_code":0,"finish_reason":"stop"}␀`
	for _, end := range []string{"", "␀", "␀␀"} {
		harness.Play(t, harness.Case{Adapter: "fastchat", Script: script + end, Shape: "R C F=stop D", Text: "café au lait"})
	}
	lines := strings.NewReplacer("␀", "⏎", "text", "t").Replace(script)
	harness.Play(t, harness.Case{
		Adapter: "lined", Script: lines, Shape: "R C F=stop D", Text: "café au lait",
		Adapts: "adapters: {lined: {framing: ndjson, cumulative: true, send: {path: /generate, map: {prompt: prompt}}, read: {text: t, finish: finish_reason}}}",
	})
}

// BC-025: an event cut across reads was dropped or came out as broken JSON.
func TestBC025CutEvents(t *testing.T) {
	harness.Play(t, harness.Case{
		Adapter: "openai", Whole: whole(`a"b`, "stop"), Shape: "R C F=stop U D", Text: `a"b`, Check: wantUsage(9, 2, 11),
		Ask: `"stream_options":{"include_usage":true}`,
		Script: `event: message⏎data: {"choices":[{"index":0,"delta":{"content":"a\"¦b"}}]}⏎¦⏎` +
			`data: {"choices":[{"index":0,"delta":{},"finish_re¦ason":"stop"}]}⏎¦⏎: comment⏎⏎data:{"choices":[],"usage":{"prompt_tok¦ens":9,"completion_tokens":2,"total_tokens":11}}⏎⏎data: [DO¦NE]⏎⏎`,
	})
}

// BC-029: NDJSON was parsed by the network's chunks, or refused for its
// Content-Type; its last line may lack a line feed.
func TestBC029Lines(t *testing.T) {
	script := strings.TrimSuffix(native("o", "ne", " two")+nativeEnd("stop"), "⏎")
	for _, kind := range []string{"", "text/plain", "application/json", "text/event-stream"} {
		backend := harness.NewBackend(t, func(harness.Received) harness.Reply {
			reply := harness.Reply{Body: script}
			if kind != "" {
				reply.Header = map[string]string{"Content-Type": kind}
			}
			return reply
		})
		base := harness.Gateway(t, harness.Case{Adapter: "native"}.Config(backend.URL))
		for _, how := range harness.Deliveries {
			backend.Deliver(how)
			harness.Chat(t, base, `"stream":true`).Check(t, false).Want(t, "R C F=stop D", "one two")
		}
	}
}

// BC-030: lines over 64 KiB ended a stream, sometimes as if it were complete.
func TestBC030LongLines(t *testing.T) {
	arguments := `{"x":"` + strings.Repeat("é", 150_000) + `"}`
	call := `[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":` + quote(arguments) + `}}]`
	harness.Play(t, harness.Case{
		Adapter: "openai",
		Script:  sse(`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":`+call+`}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]"),
		Whole:   `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":` + call + `},"finish_reason":"tool_calls"}]}`,
		Ask:     `"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]`,
		Shape:   "R T F=tool_calls D",
		Check: func(t *testing.T, s *harness.Stream) {
			if calls := s.Tools[0]; len(calls) != 1 || calls[0].Arguments != arguments || calls[0].Name != "f" || calls[0].ID != "c1" {
				t.Errorf("the call arrived otherwise: %.200v", calls)
			}
		},
	})
	text := strings.Repeat("日本語 ", 50_000)
	harness.Play(t, harness.Case{Adapter: "native", Script: native("a", text) + nativeEnd("stop"), Shape: "R C F=stop D", Text: "a" + text})
}

// BC-030, over the limit: an error that names it.
func TestBC030OverTheLimit(t *testing.T) {
	line := `{"id":2,"text":"` + strings.Repeat("x", 80<<10)
	harness.Play(t, harness.Case{
		Adapter: "native", Script: native("a") + line + `"}⏎` + nativeEnd("stop"), Adapts: "frame_limit: 64KiB", Shape: "R C E D", Text: "a", Status: 502,
		Check: func(t *testing.T, s *harness.Stream) {
			if !strings.Contains(s.Err.Message, "65536") {
				t.Errorf("the limit is not named: %s", s.Err.Message)
			}
		},
	})
}
