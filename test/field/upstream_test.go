package field

import (
	"encoding/json"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// vllmDemo is vLLM's demo server as a declared adapter: NDJSON, the text so far
// after the prompt, no word on why it ended.
const vllmDemo = `
adapters:
  vllm-demo:
    framing: ndjson
    cumulative: true
    echo_prompt: true
    eof_is_finish: true
    send: {path: /generate, const: {stream: true}, map: {prompt: prompt, max_tokens: max_tokens}}
    read: {text: text.0}
`

// BC-016: the backend died after its 200 and clients kept a truncated answer as
// if it were whole.
func TestBC016CutStream(t *testing.T) {
	backend := harness.NewBackend(t, func(r harness.Received) harness.Reply {
		var body struct{ Prompt string }
		if err := json.Unmarshal([]byte(r.Body), &body); err != nil || body.Prompt == "" {
			t.Errorf("backend got %s", r.Body)
		}
		frame := func(text string) string { return `{"text":[` + quote(body.Prompt+text) + `]}⏎¦` }
		return harness.Reply{Body: frame("To be") + frame("To be or") + "⟂"}
	})
	base := harness.Gateway(t, harness.Case{Adapter: "vllm-demo", Adapts: vllmDemo}.Config(backend.URL))
	for _, how := range harness.Deliveries {
		backend.Deliver(how)
		s := harness.Chat(t, base, `"stream":true`).Check(t, false)
		s.Want(t, "R C E D", "To be or")
	}
	backend.Deliver(harness.AsWritten)
	harness.Chat(t, base, "").Want(t, 502, "upstream_error", "")

	f := func(c harness.Case) {
		t.Helper()
		c.Script += "⟂"
		c.Shape, c.Text, c.Status = "R C E D", "To be", 502
		harness.Play(t, c)
	}
	f(harness.Case{Adapter: "fastchat", Script: fastchat("To", "") + fastchat("To be", "")})
	f(harness.Case{Adapter: "native", Script: native("To", " be")})
	f(harness.Case{Adapter: "openai", Script: openai("", "To", " be"), Whole: `{"choices":[{"index":0,⟂`})
	f(harness.Case{Adapter: "torchchat", Script: torchchat("To", " be")})
}

// BC-016, a proper end that says nothing of why: an error too, unless the
// protocol has no such word.
func TestBC016EndWithoutFinish(t *testing.T) {
	f := func(c harness.Case) {
		t.Helper()
		c.Text = "To be"
		harness.Play(t, c)
	}
	f(harness.Case{Adapter: "native", Script: native("To", " be"), Shape: "R C E D", Status: 502})
	f(harness.Case{Adapter: "openai", Script: openai("", "To", " be"), Whole: whole("To be", "stop"), Shape: "R C E D"})
	f(harness.Case{Adapter: "openai", Script: openai("", "To", " be") + "data: [DONE]⏎⏎", Whole: whole("To be", "stop"), Shape: "R C F=stop D"})
	f(harness.Case{Adapter: "fastchat", Script: fastchat("To", "") + fastchat("To be", ""), Shape: "R C F=stop D"})
}

// BC-018: the finish came but [DONE] never did, and the stream never ended.
func TestBC018NoDone(t *testing.T) {
	script := strings.TrimSuffix(openai("stop", "x"), "data: [DONE]⏎⏎¦")
	for _, end := range []string{"", "data: [DONE]⏎⏎", "data: [DONE]⏎⏎data: [DONE]⏎⏎"} {
		harness.Play(t, harness.Case{Adapter: "openai", Script: script + end, Whole: whole("x", "stop"), Shape: "R C F=stop D", Text: "x"})
	}
}

// BC-020: failures came back as 200 with finish_reason "error".
func TestBC020FinishReasonError(t *testing.T) {
	harness.Play(t, harness.Case{
		Adapter: "openai", Whole: whole("", "error"), Status: 502,
		Script: sse(`{"choices":[{"index":0,"delta":{"content":"x"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, "[DONE]"),
		Shape:  "R C E D", Text: "x",
	})
}

// BC-021: a worker's refusal, or its error frame, was shown as the answer.
func TestBC021WorkerErrors(t *testing.T) {
	refuses := harness.NewBackend(t, func(harness.Received) harness.Reply {
		return harness.Reply{Status: 503, Header: map[string]string{"Content-Type": "text/html", "Retry-After": "7"}, Body: "<html><body><h1>busy</h1></body></html>"}
	})
	base := harness.Gateway(t, harness.Case{Adapter: "fastchat"}.Config(refuses.URL))
	for _, ask := range []string{"", `"stream":true`} {
		answer := harness.Chat(t, base, ask)
		answer.Want(t, 503, "upstream_error", "")
		if answer.Header.Get("Retry-After") != "7" || strings.Contains(string(answer.Body), "<") {
			t.Errorf("answer %v %s", answer.Header, answer.Body)
		}
	}
	busy := `{"text":"worker busy","error_code":50001}␀`
	harness.Play(t, harness.Case{Adapter: "fastchat", Script: busy, Shape: "HTTP 502", Status: 502})
	harness.Play(t, harness.Case{
		Adapter: "fastchat", Script: fastchat("Hi", "") + busy, Shape: "R C E D", Text: "Hi", Status: 502,
		Check: func(t *testing.T, s *harness.Stream) {
			if !strings.Contains(s.Err.Message, "worker busy") {
				t.Errorf("the message %q lacks the worker's words", s.Err.Message)
			}
		},
	})
}

// BC-022: error lines inside a stream were dropped or shown as syntax errors.
func TestBC022ErrorLines(t *testing.T) {
	f := func(c harness.Case, words string) {
		t.Helper()
		c.Shape, c.Text, c.Status = "R C E D", "A", 502
		c.Check = func(t *testing.T, s *harness.Stream) {
			t.Helper()
			if !strings.Contains(s.Err.Message, words) || strings.ContainsFunc(s.Err.Message, func(r rune) bool { return r < ' ' }) {
				t.Errorf("message %q lacks %q, or is not clean", s.Err.Message, words)
			}
		}
		harness.Play(t, c)
	}
	f(harness.Case{Adapter: "native", Script: native("A") + `{"error":{"code":"engine_error","message":"runner ended: out of memory"}}⏎`}, "runner ended: out of memory")
	f(harness.Case{Adapter: "native", Script: native("A") + "internal failure, try later⏎"}, "internal failure, try later")
	f(harness.Case{Adapter: "openai", Script: openai("", "A") + sse(`{"error":{"message":"boom\u0007 it went","code":500}}`), Whole: `{"error":{"message":"boom","type":"x"}}`}, "it went")
	f(harness.Case{Adapter: "openai", Script: openai("", "A") + sse(`{"error":"boom"}`, "[DONE]"), Whole: `{"error":"boom"}`}, "boom")
}

// The same at the first frame: the client gets a status, not a stream.
func TestBC022ErrorFirst(t *testing.T) {
	harness.Play(t, harness.Case{Adapter: "openai", Script: sse(`{"error":{"message":"boom"}}`), Whole: `{"error":{"message":"boom"}}`, Shape: "HTTP 502", Status: 502})
	harness.Play(t, harness.Case{Adapter: "native", Script: `{"error":{"code":"engine_error","message":"x"}}⏎`, Shape: "HTTP 502", Status: 502})
	harness.Play(t, harness.Case{Adapter: "openai", Script: "⟂", Whole: "⟂", Shape: "HTTP 502", Status: 502})
}
