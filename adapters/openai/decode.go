package openai

import (
	"slices"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Decoder implements adapters.Adapter. It reads chunks of streams and whole
// answers, which differ in a word: delta or message.
func (Adapter) Decoder(req *llm.Request) adapters.Decoder {
	return &decoder{logprobs: req != nil && req.Logprobs}
}

type decoder struct {
	logprobs  bool     // are wanted
	tools     []*tools // by choice, for the choices that call tools
	text      []byte   // what the events of one frame point into
	reasoning []byte
	extra     []byte // members of this frame that are not known here
}

// Decode implements adapters.Decoder.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	d.reset()
	var choices, usage []byte
	failed := fr.Event == "error"
	for name, value := range jsonscan.All(fr.Data) {
		switch string(name) {
		case "choices":
			choices = value
		case "usage":
			usage = value
		case "error":
			failed = failed || !adapters.IsNull(value)
		case "object":
			failed = failed || string(value) == `"error"`
		case "error_code": // FastChat's own API server
			failed = failed || adapters.Int(value) != 0
		case "x_groq":
			for name, value := range jsonscan.All(value) {
				if string(name) == "usage" {
					usage = value
				}
			}
		case "id", "created", "model", "system_fingerprint", "service_tier", "obfuscation":
			// The gateway's answer has its own, or none.
		default:
			d.keep(name, value)
		}
	}
	if failed {
		return dst, adapters.ReadProblem(fr.Data).Failure(0)
	}
	first := len(dst)
	position := 0
	if len(choices) > 0 && choices[0] == '[' {
		for value := range jsonscan.Elements(choices) {
			var err error
			if dst, err = d.choice(dst, position, value); err != nil {
				return dst, err
			}
			position++
		}
	}
	u := readUsage(usage)
	if choices == nil { // no chunk of any kind
		d.extra = d.extra[:0]
	}
	if (u.Has || len(d.extra) > 0) && len(dst) == first {
		dst = append(dst, llm.Event{})
	}
	if u.Has {
		dst[len(dst)-1].Usage = u
	}
	if len(d.extra) > 0 {
		dst[first].Extra = d.extra
	}
	return dst, nil
}

// reset forgets what the events of the last frame point into.
func (d *decoder) reset() {
	d.text, d.reasoning, d.extra = d.text[:0], d.reasoning[:0], d.extra[:0]
	for _, t := range d.tools {
		t.args = t.args[:0]
	}
}

// keep keeps an unknown member of a chunk or an answer, which clients may know:
// citations, timings.
func (d *decoder) keep(name, value []byte) {
	if adapters.IsNull(value) {
		return
	}
	if len(d.extra) > 0 {
		d.extra = append(d.extra, ',')
	}
	d.extra = append(adapters.AppendString(d.extra, string(name)), ':')
	d.extra = append(d.extra, value...)
}

// choice appends the events of one element of choices.
func (d *decoder) choice(dst []llm.Event, position int, object []byte) ([]llm.Event, error) {
	var delta, text, finish []byte
	whole := false
	ev := llm.Event{Choice: position}
	for name, value := range jsonscan.All(object) {
		switch string(name) {
		case "index":
			if !adapters.IsNull(value) {
				ev.Choice = max(adapters.Int(value), 0)
			}
		case "delta":
			delta = value
		case "message":
			delta, whole = value, true
		case "text": // completions
			text = value
		case "logprobs":
			if d.logprobs {
				ev.Logprobs = readLogprobs(value)
			}
		case "finish_reason":
			finish = value
		}
	}
	textFrom, reasoningFrom := len(d.text), len(d.reasoning)
	d.text = jsonscan.AppendUnquoted(d.text, text)
	var calls, legacy []byte
	thought := false
	for name, value := range jsonscan.All(delta) {
		switch string(name) {
		case "content":
			d.content(value)
		case "refusal":
			d.text = jsonscan.AppendUnquoted(d.text, value)
		case "reasoning_content", "reasoning":
			// Some send the same thought under both names.
			if !thought {
				d.reasoning = jsonscan.AppendUnquoted(d.reasoning, value)
				thought = len(d.reasoning) > reasoningFrom
			}
		case "tool_calls":
			calls = value
		case "function_call":
			legacy = value
		}
	}
	ev.Text, ev.Reasoning = d.text[textFrom:], d.reasoning[reasoningFrom:]
	if len(ev.Text) > 0 || len(ev.Reasoning) > 0 || len(ev.Logprobs) > 0 {
		dst = append(dst, ev)
		ev.Text, ev.Reasoning, ev.Logprobs = nil, nil, nil
	}
	var err error
	switch {
	case len(calls) > len("[]") && calls[0] == '[':
		dst, err = d.toolsOf(ev.Choice).decode(dst, calls, whole)
	case len(legacy) > 0 && legacy[0] == '{':
		dst, err = d.toolsOf(ev.Choice).legacy(dst, legacy)
	}
	word := adapters.Text(finish)
	if word == "" || err != nil {
		return dst, err
	}
	if ev.Finish, err = adapters.FinishWord(word, nil); err != nil {
		return dst, err
	}
	if i := d.find(ev.Choice); i >= 0 {
		dst = d.tools[i].finish(dst)
	}
	return append(dst, ev), nil
}

// content appends what a message's content says: a string, or a list of parts
// whose text may in turn be such a list (thinking parts).
func (d *decoder) content(value []byte) {
	if len(value) == 0 || value[0] != '[' {
		d.text = jsonscan.AppendUnquoted(d.text, value)
		return
	}
	for part := range jsonscan.Elements(value) {
		for name, v := range jsonscan.All(part) {
			switch string(name) {
			case "text":
				d.text = jsonscan.AppendUnquoted(d.text, v)
			case "thinking":
				d.thinking(v)
			}
		}
	}
}

func (d *decoder) thinking(value []byte) {
	if len(value) == 0 || value[0] != '[' {
		d.reasoning = jsonscan.AppendUnquoted(d.reasoning, value)
		return
	}
	for part := range jsonscan.Elements(value) {
		for name, v := range jsonscan.All(part) {
			if string(name) == "text" {
				d.reasoning = jsonscan.AppendUnquoted(d.reasoning, v)
			}
		}
	}
}

func (d *decoder) find(choice int) int {
	return slices.IndexFunc(d.tools, func(t *tools) bool { return t.choice == choice })
}

func (d *decoder) toolsOf(choice int) *tools {
	i := d.find(choice)
	if i < 0 {
		i = len(d.tools)
		d.tools = append(d.tools, &tools{choice: choice})
	}
	return d.tools[i]
}

// readUsage reads a usage object; anything else says nothing.
func readUsage(object []byte) llm.Usage {
	var u llm.Usage
	for name, value := range jsonscan.All(object) {
		switch string(name) {
		case "prompt_tokens":
			u.Prompt, u.Has = adapters.Int(value), true
		case "completion_tokens":
			u.Completion, u.Has = adapters.Int(value), true
		case "prompt_cache_hit_tokens": // DeepSeek
			u.Cached = adapters.Int(value)
		case "prompt_tokens_details":
			for name, value := range jsonscan.All(value) {
				if string(name) == "cached_tokens" {
					u.Cached = adapters.Int(value)
				}
			}
		case "completion_tokens_details":
			for name, value := range jsonscan.All(value) {
				if string(name) == "reasoning_tokens" {
					u.Reasoning = adapters.Int(value)
				}
			}
		}
	}
	return u
}
