package anthropic

import (
	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// finish are the API's own words. With pause_turn it waits to be asked again,
// for tools that it runs itself.
var finish = map[string]llm.Finish{
	"tool_use": llm.FinishTools, "refusal": llm.FinishFilter,
	"model_context_window_exceeded": llm.FinishLength, "pause_turn": llm.FinishStop,
}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct {
	text  adapters.Texts
	calls adapters.Calls
	usage counts
}

// Decode implements adapters.Decoder. An event's name says no more than the
// type in its data. Unknown events, blocks and deltas are passed over, as the
// API announces that there will be more of them.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	d.text = d.text[:0]
	data := gjson.ParseBytes(fr.Data)
	kind := data.Get("type").String()
	if kind == "error" || fr.Event == "error" {
		return dst, adapters.ReadProblem(fr.Data).Failure(0)
	}
	block := data.Get("index").Int()
	switch kind {
	case "message_start":
		dst = append(dst, llm.Event{Usage: d.usage.read(data.Get("message.usage"))})
	case "content_block_start":
		dst = d.start(dst, block, data.Get("content_block"))
	case "content_block_delta":
		dst = d.delta(dst, block, data.Get("delta"))
	case "content_block_stop":
		dst = d.calls.End(dst, block)
	case "message_delta":
		usage := d.usage.read(data.Get("usage"))
		word := data.Get("delta.stop_reason").String()
		if word == "" {
			return append(dst, llm.Event{Usage: usage}), nil
		}
		why, err := adapters.FinishWord(word, finish)
		return append(d.calls.EndAll(dst), llm.Event{Finish: why, Usage: usage}), err
	case "message_stop":
		dst = append(d.calls.EndAll(dst), llm.Event{Finish: llm.FinishStop}) // means nothing after the reason
	}
	return dst, nil
}

// start begins a block, which may say something at once.
func (d *decoder) start(dst []llm.Event, block int64, b gjson.Result) []llm.Event {
	switch b.Get("type").String() {
	case "text":
		return append(dst, llm.Event{Text: d.quoted(b.Get("text"))})
	case "thinking":
		return append(dst, llm.Event{Reasoning: d.quoted(b.Get("thinking"))})
	case "tool_use":
		input := ""
		if b.Get("input").IsObject() {
			input = b.Get("input").Raw
		}
		return d.calls.Begin(dst, block, b.Get("id").String(), b.Get("name").String(), input)
	}
	return dst
}

func (d *decoder) delta(dst []llm.Event, block int64, delta gjson.Result) []llm.Event {
	switch delta.Get("type").String() {
	case "text_delta":
		return append(dst, llm.Event{Text: d.quoted(delta.Get("text"))})
	case "thinking_delta":
		return append(dst, llm.Event{Reasoning: d.quoted(delta.Get("thinking"))})
	case "input_json_delta":
		return d.calls.Add(dst, block, d.quoted(delta.Get("partial_json")))
	}
	return dst
}

// quoted returns the text of a JSON string.
func (d *decoder) quoted(value gjson.Result) []byte { return d.text.Unquote([]byte(value.Raw)) }

// counts are what the events have said of usage so far: each says a part, and
// the last number of a kind holds.
type counts struct{ input, created, cached, output int64 }

func (c *counts) read(usage gjson.Result) llm.Usage {
	if !usage.IsObject() {
		return llm.Usage{}
	}
	for name, to := range map[string]*int64{
		"input_tokens": &c.input, "cache_creation_input_tokens": &c.created,
		"cache_read_input_tokens": &c.cached, "output_tokens": &c.output,
	} {
		if n := usage.Get(name); n.Type == gjson.Number {
			*to = max(n.Int(), 0)
		}
	}
	return llm.Usage{Has: true, Prompt: int(c.input + c.created + c.cached), Completion: int(c.output), Cached: int(c.cached)}
}
