package bedrock

import (
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

var finish = map[string]llm.Finish{
	"tool_use": llm.FinishTools, "model_context_window_exceeded": llm.FinishLength,
	"guardrail_intervened": llm.FinishFilter, "content_filtered": llm.FinishFilter,
}

// statuses are what exceptions in a stream stand for.
var statuses = map[string]int{
	"validationException": http.StatusBadRequest, "throttlingException": http.StatusTooManyRequests,
	"serviceUnavailableException": http.StatusServiceUnavailable,
}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct {
	text  adapters.Texts
	calls adapters.Calls
}

// Decode implements adapters.Decoder. Unknown events are passed over.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	d.text = d.text[:0]
	data := gjson.ParseBytes(fr.Data)
	block := data.Get("contentBlockIndex").Int()
	switch fr.Event {
	case "contentBlockStart":
		if use := data.Get("start.toolUse"); use.IsObject() {
			dst = d.calls.Begin(dst, block, use.Get("toolUseId").String(), use.Get("name").String(), "")
		}
	case "contentBlockDelta":
		return d.delta(dst, block, data.Get("delta")), nil
	case "messageStop":
		return d.stop(dst, data.Get("stopReason").String())
	case "metadata":
		if usage := data.Get("usage"); usage.IsObject() {
			dst = append(dst, llm.Event{Usage: readUsage(usage)})
		}
	default:
		if strings.HasSuffix(fr.Event, "Exception") || data.Get("message").Exists() {
			said := adapters.ReadProblem(fr.Data)
			if said.Message == "" {
				said.Message = data.Get("originalMessage").String()
			}
			status := statuses[fr.Event]
			if status == 0 {
				status = http.StatusBadGateway
			}
			return dst, said.Failure(status)
		}
	}
	return dst, nil
}

func (d *decoder) delta(dst []llm.Event, block int64, delta gjson.Result) []llm.Event {
	dst = append(dst, llm.Event{Text: d.quoted(delta.Get("text")), Reasoning: d.quoted(delta.Get("reasoningContent.text"))})
	return d.calls.Add(dst, block, d.quoted(delta.Get("toolUse.input")))
}

// stop ends the answer; usage is still to come. Calls that have told of no
// arguments have none.
func (d *decoder) stop(dst []llm.Event, word string) ([]llm.Event, error) {
	if strings.HasPrefix(word, "malformed_") {
		return dst, adapters.Failure(http.StatusBadGateway, "The backend broke its answer off ("+word+").")
	}
	dst = d.calls.EndAll(dst)
	why, err := adapters.FinishWord(word, finish)
	return append(dst, llm.Event{Finish: why}), err
}

// quoted returns the text of a JSON string.
func (d *decoder) quoted(value gjson.Result) []byte { return d.text.Unquote([]byte(value.Raw)) }

// readUsage reads the counts. Input that was read from or written to a cache is
// counted apart.
func readUsage(usage gjson.Result) llm.Usage {
	count := func(name string) int { return int(max(usage.Get(name).Int(), 0)) }
	cached := count("cacheReadInputTokens")
	return llm.Usage{
		Has:        true,
		Prompt:     count("inputTokens") + cached + count("cacheWriteInputTokens"),
		Completion: count("outputTokens"),
		Cached:     cached,
	}
}
