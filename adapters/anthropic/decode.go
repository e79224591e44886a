package anthropic

import (
	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
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
	text  []byte // what the events of one frame point into
	calls []call
	usage counts
}

// call is a block that calls a tool of the client's.
type call struct {
	block int64  // its index among all blocks
	input []byte // what it began with, usually {}
	begun bool   // arguments have been told
	ended bool
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
		if c := d.find(block); c >= 0 {
			dst = d.stop(dst, c)
		}
	case "message_delta":
		usage := d.usage.read(data.Get("usage"))
		word := data.Get("delta.stop_reason").String()
		if word == "" {
			return append(dst, llm.Event{Usage: usage}), nil
		}
		for c := range d.calls {
			dst = d.stop(dst, c)
		}
		why, err := adapters.FinishWord(word, finish)
		return append(dst, llm.Event{Finish: why, Usage: usage}), err
	case "message_stop":
		dst = append(dst, llm.Event{Finish: llm.FinishStop}) // means nothing after the reason
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
		tool := &llm.ToolDelta{Index: len(d.calls), ID: adapters.CallID(b.Get("id").String()), Name: b.Get("name").String()}
		input := []byte("{}")
		if b.Get("input").IsObject() {
			input = []byte(b.Get("input").Raw)
		}
		d.calls = append(d.calls, call{block: block, input: input})
		return append(dst, llm.Event{Tool: tool})
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
		args := d.quoted(delta.Get("partial_json"))
		if c := d.find(block); c >= 0 && len(args) > 0 {
			d.calls[c].begun = true
			return append(dst, llm.Event{Tool: &llm.ToolDelta{Index: c, Arguments: args}})
		}
	}
	return dst
}

// stop ends a call. One without arguments may have told of none.
func (d *decoder) stop(dst []llm.Event, c int) []llm.Event {
	call := &d.calls[c]
	if call.ended {
		return dst
	}
	call.ended = true
	if call.begun {
		return dst
	}
	return append(dst, llm.Event{Tool: &llm.ToolDelta{Index: c, Arguments: call.input}})
}

// find returns the number of the call that a block is, -1 if it is none.
func (d *decoder) find(block int64) int {
	for i := len(d.calls) - 1; i >= 0; i-- {
		if d.calls[i].block == block {
			return i
		}
	}
	return -1
}

// quoted returns the text of a JSON string.
func (d *decoder) quoted(value gjson.Result) []byte {
	from := len(d.text)
	d.text = jsonscan.AppendUnquoted(d.text, []byte(value.Raw))
	return d.text[from:]
}

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
