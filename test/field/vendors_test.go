package field

import (
	"fmt"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// ollama is a run of tokens of an Ollama server.
func ollama(tokens ...string) string {
	out := ""
	for _, text := range tokens {
		out += fmt.Sprintf(`{"model":"up","created_at":"2026-11-30T10:00:00Z","message":{"role":"assistant","content":%s},"done":false}⏎¦`, quote(text))
	}
	return out
}

func ollamaEnd(reason string) string {
	return fmt.Sprintf(`{"model":"up","created_at":"2026-11-30T10:00:01Z","message":{"role":"assistant","content":""},"done":true,"done_reason":%q,"prompt_eval_count":7,"eval_count":2}⏎`, reason)
}

// anthropic is a whole answer of the Messages API.
func anthropic(reason string, tokens ...string) string {
	events := []string{
		`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":7,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
	}
	for _, text := range tokens {
		events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, quote(text)))
	}
	return sse(append(events,
		`{"type":"content_block_stop","index":0}`,
		fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":2}}`, reason),
		`{"type":"message_stop"}`)...)
}

// gemini is a whole answer of the Gemini API.
func gemini(reason string, tokens ...string) string {
	var events []string
	for _, text := range tokens {
		events = append(events, fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":%s}],"role":"model"},"index":0}]}`, quote(text)))
	}
	return sse(append(events, fmt.Sprintf(`{"candidates":[{"finishReason":%q,"index":0}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2}}`, reason))...)
}

// offer is the tools of a request that offers functions of these names.
func offer(names ...string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = fmt.Sprintf(`{"type":"function","function":{"name":%q,"parameters":{"type":"object"}}}`, name)
	}
	return `"tools":[` + strings.Join(list, ",") + `]`
}

// calls checks the tool calls of a stream, written as name and arguments.
func calls(want ...string) func(*testing.T, *harness.Stream) {
	return func(t *testing.T, s *harness.Stream) {
		t.Helper()
		var got []string
		for _, c := range s.Tools[0] {
			if c.ID == "" {
				t.Errorf("call without an id: %+v", c)
			}
			got = append(got, c.Name+" "+c.Arguments)
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got calls %q, want %q", got, want)
		}
	}
}

// BC-007, the words of the vendors.
func TestBC007VendorFinishWords(t *testing.T) {
	f := func(adapter, script, want string) {
		t.Helper()
		harness.Play(t, harness.Case{Adapter: adapter, Script: script, Shape: "R C F=" + want + " D", Text: "Hi"})
	}
	for word, want := range map[string]string{"stop": "stop", "length": "length", "zzz": "stop"} {
		f("ollama", ollama("Hi")+ollamaEnd(word), want)
	}
	for word, want := range map[string]string{"end_turn": "stop", "stop_sequence": "stop", "max_tokens": "length", "refusal": "content_filter"} {
		f("anthropic", anthropic(word, "Hi"), want)
	}
	for word, want := range map[string]string{"STOP": "stop", "MAX_TOKENS": "length", "SAFETY": "content_filter", "RECITATION": "content_filter"} {
		f("gemini", gemini(word, "Hi"), want)
	}
}

// BC-008: Ollama ends an answer with tool calls with the word stop.
func TestBC008OllamaToolsEndWithStop(t *testing.T) {
	line := `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_time","arguments":{"tz":"UTC"}}}]},"done":false}⏎¦`
	for word, want := range map[string]string{"stop": "tool_calls", "length": "length"} {
		harness.Play(t, harness.Case{
			Adapter: "ollama", Ask: offer("get_time"), Script: line + ollamaEnd(word),
			Shape: "R T F=" + want + " D", Check: calls(`get_time {"tz":"UTC"}`),
		})
	}
}

// BC-009: Gemini ends an answer with function calls with the word STOP, and a
// text part that is empty.
func TestBC009GeminiToolsEndWithStop(t *testing.T) {
	call := `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":{"x":2}}}]}}]}`
	for end, want := range map[string]string{
		`{"candidates":[{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}]}`: "tool_calls",
		`{"candidates":[{"finishReason":"MAX_TOKENS"}]}`:                             "length",
	} {
		harness.Play(t, harness.Case{
			Adapter: "gemini", Ask: offer("f"), Script: sse(call, end),
			Shape: "R T F=" + want + " D", Check: calls(`f {"x":2}`),
		})
	}
}

// BC-012, with Ollama's last line, which may have no message.
func TestBC012OllamaUsage(t *testing.T) {
	script := ollama("ok") + `{"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":2}⏎`
	harness.Play(t, harness.Case{Adapter: "ollama", Script: script, Shape: "R C F=stop D", Text: "ok"})
	harness.Play(t, harness.Case{
		Adapter: "ollama", Script: script, Ask: `"stream_options":{"include_usage":true}`, Shape: "R C F=stop U D", Text: "ok",
		Check: func(t *testing.T, s *harness.Stream) {
			if !strings.HasPrefix(s.Usage, `{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9`) {
				t.Errorf("usage %s", s.Usage)
			}
		},
	})
}

// BC-016, vendors that say when an answer is complete.
func TestBC016VendorCutStream(t *testing.T) {
	f := func(adapter, script string) {
		t.Helper()
		for _, end := range []string{"", "⟂"} {
			harness.Play(t, harness.Case{Adapter: adapter, Script: script + end, Shape: "R C E D", Text: "To be", Status: 502})
		}
	}
	before := func(script, mark string) string { return script[:strings.Index(script, mark)] }
	f("ollama", ollama("To", " be"))
	f("anthropic", before(anthropic("end_turn", "To", " be"), `data: {"type":"content_block_stop"`))
	f("gemini", before(gemini("STOP", "To", " be"), `data: {"candidates":[{"finishReason"`))
}

// BC-022, Ollama's error lines and others' errors within a stream.
func TestBC022VendorErrors(t *testing.T) {
	f := func(adapter, script, words string, status int) {
		t.Helper()
		harness.Play(t, harness.Case{
			Adapter: adapter, Script: script, Shape: "R C E D", Text: "A", Status: status,
			Check: func(t *testing.T, s *harness.Stream) {
				if !strings.Contains(s.Err.Message, words) {
					t.Errorf("message %q lacks %q", s.Err.Message, words)
				}
			},
		})
	}
	f("ollama", ollama("A")+`{"error":"runner ended: out of memory"}⏎`, "out of memory", 502)
	f("ollama", ollama("A")+"internal failure, try later⏎", "internal failure", 502)
	start, _, _ := strings.Cut(anthropic("end_turn", "A"), `data: {"type":"content_block_stop"`)
	f("anthropic", start+"event: error⏎data: "+`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}⏎⏎`, "Overloaded", 503)
	text, _, _ := strings.Cut(gemini("STOP", "A"), `data: {"candidates":[{"finishReason"`)
	f("gemini", text+`{⏎  "error": {⏎    "code": 503,⏎    "message": "The model is overloaded."⏎  }⏎}⏎`, "overloaded", 503)
}

// BC-025: named events were cut at a network boundary, and counts in two of
// them were not joined.
func TestBC025AnthropicEvents(t *testing.T) {
	harness.Play(t, harness.Case{
		Adapter: "anthropic", Ask: `"stream_options":{"include_usage":true}`, Shape: "R C F=stop U D", Text: `a"b`,
		Script: `event: message_start⏎data: {"type":"message_start","message":{"id":"m","usage":{"input_t¦okens":9}}}⏎¦⏎` +
			`event: content_block_start⏎data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}⏎⏎` +
			`event: content_block_delta⏎data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\"¦b"}}⏎⏎` +
			`event: message_delta⏎data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}⏎⏎` +
			`event: message_stop⏎data: {"type":"message_stop"}⏎⏎`,
		Check: func(t *testing.T, s *harness.Stream) {
			if !strings.HasPrefix(s.Usage, `{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11`) {
				t.Errorf("usage %s", s.Usage)
			}
		},
	})
}

// BC-029, Ollama: whatever the Content-Type says, and without a last line feed.
func TestBC029OllamaContentTypes(t *testing.T) {
	script := `{"message":{"role":"assistant","content":"o¦ne"},"done":false}⏎{"message":{"role":"assistant","content":" two"},"done":false}⏎¦` +
		`{"message":{"content":""},"done":true,"done_reason":"stop"}`
	for _, kind := range []string{"application/x-ndjson", "text/plain", "application/json", ""} {
		backend := harness.NewBackend(t, func(harness.Received) harness.Reply {
			return harness.Reply{Body: script, Header: map[string]string{"Content-Type": kind}}
		})
		base := harness.Gateway(t, harness.Case{Adapter: "ollama"}.Config(backend.URL))
		for _, how := range harness.Deliveries {
			backend.Deliver(how)
			harness.Chat(t, base, `"stream":true`).Check(t, false).Want(t, "R C F=stop D", "one two")
		}
	}
}
