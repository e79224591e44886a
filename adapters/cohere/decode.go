package cohere

import (
	"cmp"
	"net/http"

	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

var finish = map[string]llm.Finish{
	"COMPLETE": llm.FinishStop, "STOP_SEQUENCE": llm.FinishStop,
	"MAX_TOKENS": llm.FinishLength, "TOOL_CALL": llm.FinishTools,
}

// failures are the words after which the answer is not whole.
var failures = map[string]int{"ERROR": http.StatusBadGateway, "TIMEOUT": http.StatusGatewayTimeout}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct {
	text  adapters.Texts
	calls adapters.Calls
}

// Decode implements adapters.Decoder. Citations and unknown events are passed
// over.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	d.text = d.text[:0]
	data := gjson.ParseBytes(fr.Data)
	index, message := data.Get("index").Int(), data.Get("delta.message")
	switch kind := data.Get("type").String(); kind {
	case "content-start", "content-delta":
		content := message.Get("content")
		return append(dst, llm.Event{Text: d.quoted(content.Get("text")), Reasoning: d.quoted(content.Get("thinking"))}), nil
	case "tool-plan-delta": // what the model means to do with the tools
		return append(dst, llm.Event{Reasoning: d.quoted(message.Get("tool_plan"))}), nil
	case "tool-call-start":
		object := message.Get("tool_calls")
		dst = d.calls.Begin(dst, index, object.Get("id").String(), object.Get("function.name").String(), "")
		return d.calls.Add(dst, index, d.quoted(object.Get("function.arguments"))), nil
	case "tool-call-delta":
		return d.calls.Add(dst, index, d.quoted(message.Get("tool_calls.function.arguments"))), nil
	case "message-end":
		return d.end(dst, data.Get("delta"))
	case "":
		if data.Get("message").Exists() || data.Get("error").Exists() || fr.Event == "error" {
			return dst, adapters.ReadProblem(fr.Data).Failure(0)
		}
	}
	return dst, nil
}

// end reads the last event. Calls that have told of no arguments have none.
func (d *decoder) end(dst []llm.Event, delta gjson.Result) ([]llm.Event, error) {
	word := delta.Get("finish_reason").String()
	if status := failures[word]; status != 0 {
		return dst, adapters.Failure(status, cmp.Or(delta.Get("error").String(), "The backend broke its answer off ("+word+")."))
	}
	dst = d.calls.EndAll(dst)
	why, err := adapters.FinishWord(word, finish)
	ev := llm.Event{Finish: why}
	if tokens := delta.Get("usage.tokens"); tokens.IsObject() {
		ev.Usage = llm.Usage{
			Has:        true,
			Prompt:     int(max(tokens.Get("input_tokens").Int(), 0)),
			Completion: int(max(tokens.Get("output_tokens").Int(), 0)),
			Cached:     int(max(delta.Get("usage.cached_tokens").Int(), 0)),
		}
	}
	return append(dst, ev), err
}

// quoted returns the text of a JSON string.
func (d *decoder) quoted(value gjson.Result) []byte { return d.text.Unquote([]byte(value.Raw)) }
