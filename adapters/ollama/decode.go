package ollama

import (
	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// finish are Ollama's own words. It (un)loads a model when it is asked nothing.
var finish = map[string]llm.Finish{"": llm.FinishStop, "load": llm.FinishStop, "unload": llm.FinishStop}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct {
	text, reasoning []byte
	calls           int
}

// Decode implements adapters.Decoder. The last line may say something, too.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	d.text, d.reasoning = d.text[:0], d.reasoning[:0]
	var ev llm.Event
	var message, reason []byte
	done := false
	for name, value := range jsonscan.All(fr.Data) {
		switch string(name) {
		case "error":
			if !adapters.IsNull(value) {
				return dst, adapters.ReadProblem(fr.Data).Failure(0)
			}
		case "message":
			message = value
		case "response": // of a completion
			d.text = jsonscan.AppendUnquoted(d.text, value)
		case "thinking":
			d.reasoning = jsonscan.AppendUnquoted(d.reasoning, value)
		case "done":
			done = string(value) == "true"
		case "done_reason":
			reason = value
		case "prompt_eval_count":
			ev.Usage.Prompt, ev.Usage.Has = adapters.Int(value), true
		case "eval_count":
			ev.Usage.Completion, ev.Usage.Has = adapters.Int(value), true
		}
	}
	calls := d.message(message)
	ev.Text, ev.Reasoning = d.text, d.reasoning
	dst = append(dst, ev)
	dst = d.toolCalls(dst, calls)
	if !done {
		return dst, nil
	}
	why, err := adapters.FinishWord(adapters.Text(reason), finish)
	if err != nil {
		return dst, err
	}
	return append(dst, llm.Event{Finish: why}), nil
}

// message reads a message's texts and returns its tool calls.
func (d *decoder) message(object []byte) (calls []byte) {
	for name, value := range jsonscan.All(object) {
		switch string(name) {
		case "content":
			d.text = jsonscan.AppendUnquoted(d.text, value)
		case "thinking":
			d.reasoning = jsonscan.AppendUnquoted(d.reasoning, value)
		case "tool_calls":
			calls = value
		}
	}
	return calls
}

// toolCalls appends a list of calls, each of which is whole. Their numbers in
// the list mean little: calls on several lines may all have the number 0.
func (d *decoder) toolCalls(dst []llm.Event, list []byte) []llm.Event {
	if len(list) == 0 || list[0] != '[' {
		return dst
	}
	for object := range jsonscan.Elements(list) {
		call := llm.ToolDelta{Index: d.calls, Arguments: []byte("{}")}
		for name, value := range jsonscan.All(object) {
			switch string(name) {
			case "id":
				call.ID = adapters.Text(value)
			case "function":
				function(&call, value)
			}
		}
		call.ID = adapters.CallID(call.ID)
		d.calls++
		dst = append(dst, llm.Event{Tool: &call})
	}
	return dst
}

// function reads what is called. Arguments are an object, whose text is passed
// on as it is, so that large numbers keep their digits.
func function(call *llm.ToolDelta, object []byte) {
	for name, value := range jsonscan.All(object) {
		switch string(name) {
		case "name":
			call.Name = adapters.Text(value)
		case "arguments":
			if value[0] == '"' {
				value = []byte(adapters.Text(value))
			}
			if !adapters.IsNull(value) {
				call.Arguments = value
			}
		}
	}
}
