package field

import (
	"encoding/json"
	"fmt"
	"strings"
)

func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(text)
	return strings.TrimSpace(b.String())
}

// fastchat is one frame of a FastChat worker.
func fastchat(text, finish string) string {
	reason := "null"
	if finish != "" {
		reason = quote(finish)
	}
	return fmt.Sprintf(`{"text": %s, "error_code": 0, "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}, "finish_reason": %s}␀¦`, quote(text), reason)
}

// native is a run of tokens of the bundled engine.
func native(tokens ...string) string {
	out := ""
	for i, text := range tokens {
		out += fmt.Sprintf(`{"id":%d,"text":%s}⏎¦`, i+1, quote(text))
	}
	return out
}

func nativeEnd(done string) string {
	reason := map[string]string{"stop": "eos", "length": "max_tokens"}[done]
	return fmt.Sprintf(`{"done":%q,"reason":%q,"prompt_tokens":7,"completion_tokens":2,"timings":{}}⏎`, done, reason)
}

// sse is a stream of OpenAI-like events.
func sse(events ...string) string {
	out := ""
	for _, e := range events {
		out += "data: " + e + "⏎⏎¦"
	}
	return out
}

// openai is an OpenAI-like stream of some text.
func openai(finish string, tokens ...string) string {
	var events []string
	for _, text := range tokens {
		events = append(events, fmt.Sprintf(`{"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, quote(text)))
	}
	if finish != "" {
		events = append(events, fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, finish), "[DONE]")
	}
	return sse(events...)
}

// whole is an OpenAI-like answer that is not streamed.
func whole(text, finish string) string {
	return fmt.Sprintf(`{"id":"x","object":"chat.completion","created":1,"model":"up","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}`, quote(text), finish)
}

// torchchat is some text as torchchat streams it: the index counts tokens, no
// space after "data:".
func torchchat(tokens ...string) string {
	out := ""
	for i, text := range tokens {
		out += fmt.Sprintf(`data:{"id":"5f","choices":[{"delta":{"role":"assistant","content":%s},"index":%d}],"created":1,"model":"m","object":"chat.completion.chunk"}⏎⏎¦`, quote(text), i)
	}
	return out
}
