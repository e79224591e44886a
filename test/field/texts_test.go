package field

import (
	"fmt"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// dialect writes an answer as one kind of server streams it: one frame for each
// token, then why it ended, in the server's word; "" is not at all.
type dialect func(finish string, tokens ...string) string

// texts are the shipped dialects that the field cases name, whose servers take
// a prompt. The prompt counts 7 tokens.
var texts = map[string]dialect{
	"llamacpp": llamacpp, "tgi": tgi, "sglang": sglang, "lmdeploy": lmdeploy,
	"kobold": kobold, "lightllm": lightllm, "triton": triton,
}

// ends are their words for the natural end and for the token limit.
var ends = map[string][2]string{
	"llamacpp": {"eos", "limit"}, "tgi": {"eos_token", "length"}, "sglang": {"stop", "length"}, "lmdeploy": {"stop", "length"},
	"kobold": {"stop", "length"}, "lightllm": {"stop", "length"}, "triton": {"stop", "length"},
}

func llamacpp(finish string, tokens ...string) string {
	var events []string
	for i, text := range tokens {
		events = append(events, fmt.Sprintf(`{"index":0,"content":%s,"tokens":[%d],"stop":false,"id_slot":0,"tokens_predicted":%d,"tokens_evaluated":7}`, quote(text), i, i+1))
	}
	if finish != "" {
		events = append(events, fmt.Sprintf(`{"index":0,"content":"","tokens":[],"stop":true,"tokens_predicted":%d,"tokens_evaluated":7,"truncated":false,"stop_type":%q,"stopping_word":""}`, len(tokens), finish))
	}
	return sse(events...)
}

// tgi puts the reason into the last token's frame, or, for the end token, into
// that token's own.
func tgi(finish string, tokens ...string) string {
	var events []string
	put := func(text string, special bool, all, reason string) {
		details := "null"
		if reason != "" {
			details = fmt.Sprintf(`{"finish_reason":%q,"generated_tokens":%d,"seed":null,"input_length":7}`, reason, len(events)+1)
		}
		events = append(events, fmt.Sprintf(`{"index":%d,"token":{"id":1,"text":%s,"logprob":-0.1,"special":%v},"generated_text":%s,"details":%s}`,
			len(events)+1, quote(text), special, all, details))
	}
	all := quote(strings.Join(tokens, ""))
	for i, text := range tokens {
		if finish != "" && finish != "eos_token" && i == len(tokens)-1 {
			put(text, false, all, finish)
			continue
		}
		put(text, false, "null", "")
	}
	if finish == "eos_token" {
		put("</s>", true, all, finish)
	}
	return sse(events...)
}

func sglang(finish string, tokens ...string) string { return sglangLike(true, finish, tokens) }

func lmdeploy(finish string, tokens ...string) string { return sglangLike(false, finish, tokens) }

func sglangLike(cumulative bool, finish string, tokens []string) string {
	var events []string
	text := ""
	put := func(reason string) {
		events = append(events, fmt.Sprintf(`{"text":%s,"output_ids":[1],"meta_info":{"id":"r","finish_reason":%s,"prompt_tokens":7,"completion_tokens":%d}}`, quote(text), reason, len(events)+1))
	}
	for _, token := range tokens {
		if !cumulative {
			text = ""
		}
		text += token
		put("null")
	}
	if finish != "" {
		if !cumulative {
			text = ""
		}
		put(fmt.Sprintf(`{"type":%q}`, finish))
		events = append(events, "[DONE]")
	}
	return sse(events...)
}

func kobold(finish string, tokens ...string) string {
	out := ""
	put := func(text, reason string) {
		out += fmt.Sprintf("event: message⏎data: {\"token\": %s, \"finish_reason\": %s}⏎⏎¦", quote(text), reason)
	}
	for _, text := range tokens {
		put(text, "null")
	}
	if finish != "" {
		put("", quote(finish))
	}
	return out
}

func lightllm(finish string, tokens ...string) string {
	out := ""
	put := func(text string, finished bool, reason string) {
		out += fmt.Sprintf(`data:{"token":{"id":1,"text":%s,"logprob":-0.1,"special":%v,"count_output_tokens":%d,"prompt_tokens":7},"generated_text":null,"finished":%v,"finish_reason":%s,"details":null}⏎⏎¦`,
			quote(text), finished, strings.Count(out, "¦")+1, finished, reason)
	}
	for _, text := range tokens {
		put(text, false, "null")
	}
	if finish != "" {
		put("", true, quote(finish))
	}
	return out
}

func triton(finish string, tokens ...string) string {
	var events []string
	put := func(text, reason string, n int) {
		events = append(events, fmt.Sprintf(`{"finish_reason":%q,"model_name":"m","model_version":"1","num_input_tokens":7,"num_output_tokens":%d,"text_output":%s}`, reason, n, quote(text)))
	}
	for _, text := range tokens {
		put(text, "None", 1)
	}
	if finish != "" {
		put("", finish, 0)
	}
	return sse(events...)
}

// eachText plays a case for every dialect of texts.
func eachText(t *testing.T, play func(name string, write dialect, word [2]string) harness.Case) {
	for name, write := range texts {
		t.Run(name, func(t *testing.T) {
			c := play(name, write, ends[name])
			c.Adapter = name
			harness.Play(t, c)
		})
	}
}
