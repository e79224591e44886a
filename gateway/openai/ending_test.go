package openai

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

func TestCheck60_UsageOnlyInTheLastChunk(t *testing.T) {
	m := meta()
	m.IncludeUsage = true
	// A backend that counts in every chunk (check 61) changes nothing.
	ev := text("Hi")
	ev.Usage = llm.Usage{Prompt: 3, Completion: 1, Has: true}
	got := write(m, llm.Usage{Prompt: 3, Completion: 2, Cached: 1, Reasoning: 1, Has: true}, ev, finish(llm.FinishLength))
	golden(t, got, `
data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"length"}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1},"completion_tokens_details":{"reasoning_tokens":1}}}

data: [DONE]

`)
}

func TestEstimatedUsageSaysSo(t *testing.T) {
	m := meta()
	m.IncludeUsage = true
	f := func(u llm.Usage, want string) {
		t.Helper()
		if got := string(write(m, u, finish(llm.FinishStop))); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	f(llm.Usage{Prompt: 7, Completion: 2, Has: true, Estimated: true}, `"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9,"estimated":true}}`)
	f(llm.Usage{}, `"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"estimated":true}}`)
}

func TestCheck59_BC010_BC012_NoUsageUnlessAsked(t *testing.T) {
	last := finish(llm.FinishStop)
	last.Usage = llm.Usage{Prompt: 3, Completion: 1, Has: true}
	got := string(write(meta(), last.Usage, text("ok"), last))
	if strings.Contains(got, "usage") || strings.Contains(got, `"choices":[]`) {
		t.Errorf("usage was not asked for: %s", got)
	}
}

func TestEarlyRoleThenText(t *testing.T) {
	m := meta()
	m.OffersTools = true
	w := NewChunkWriter(m)
	out := w.AppendRole(nil)
	out = w.AppendRole(out)
	out = w.AppendKeepAlive(out)
	out = w.AppendEvent(out, text("late"))
	out = w.AppendEvent(out, finish(llm.FinishStop))
	if silent := w.AppendKeepAlive(nil); len(silent) != 0 {
		t.Errorf("a keep-alive after the finish: %s", silent)
	}
	chunks := frames(t, w.AppendEnd(out, llm.Usage{}))
	if len(chunks) != 4 || joined(t, chunks, 0, "content") != "late" || strings.Count(string(out), "role") != 1 {
		t.Errorf("got %s", out)
	}
}

func TestKeepAliveOpensTheStream(t *testing.T) {
	if got := string(NewChunkWriter(meta()).AppendKeepAlive(nil)); !strings.Contains(got, `"role":"assistant"`) {
		t.Errorf("got %s", got)
	}
}

func TestCheck70_ErrorFrame(t *testing.T) {
	w := NewChunkWriter(meta())
	out := w.AppendEvent(nil, text("He"))
	n := len(out)
	out = w.AppendError(out, llm.Upstream(http.StatusBadGateway, "", "The backend closed the stream early."))
	golden(t, out[n:], `
data: {"error":{"message":"The backend closed the stream early.","type":"server_error","param":null,"code":"upstream_error"}}

data: [DONE]

`)
	if strings.Contains(string(out), `"finish_reason":"`) {
		t.Errorf("a finish with an error: %s", out)
	}
}

func TestErrorFrameHidesWhatIsNotForClients(t *testing.T) {
	got := string(NewChunkWriter(meta()).AppendError(nil, errors.New("dial 10.0.0.1: key KEY123")))
	if strings.Contains(got, "KEY123") || strings.Contains(got, "10.0.0.1") || !strings.Contains(got, `"code":null`) {
		t.Errorf("got %s", got)
	}
	long := string(NewChunkWriter(meta()).AppendError(nil, llm.Upstream(502, "", "%s", strings.Repeat("\x01", 1<<20))))
	if len(long) > 64<<10 {
		t.Errorf("an error of %d bytes", len(long))
	}
}
