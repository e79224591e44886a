package gemini

import (
	"net/http"

	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// finish are the API's words for ends at which the answer is of use.
var finish = map[string]llm.Finish{
	"STOP": llm.FinishStop, "MAX_TOKENS": llm.FinishLength,
	"SAFETY": llm.FinishFilter, "RECITATION": llm.FinishFilter, "BLOCKLIST": llm.FinishFilter,
	"PROHIBITED_CONTENT": llm.FinishFilter, "SPII": llm.FinishFilter, "IMAGE_SAFETY": llm.FinishFilter,
	"IMAGE_PROHIBITED_CONTENT": llm.FinishFilter, "IMAGE_RECITATION": llm.FinishFilter,
}

// broken are the words after which the answer is of no use.
var broken = map[string]bool{
	"MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true, "TOO_MANY_TOOL_CALLS": true,
	"LANGUAGE": true, "NO_IMAGE": true, "OTHER": true,
}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(req *llm.Request) adapters.Decoder {
	d := &decoder{choices: 1}
	if req != nil {
		d.choices = max(req.N, 1)
	}
	d.calls = make([]int, d.choices)
	return d
}

type decoder struct {
	choices int
	calls   []int // how many calls each choice has made
	text    adapters.Texts
}

// Decode implements adapters.Decoder. Errors come as JSON outside of events,
// alone or in a list.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	d.text = d.text[:0]
	data := gjson.ParseBytes(fr.Data)
	if data.IsArray() || data.Get("error").Exists() || fr.Event == "error" {
		return dst, adapters.ReadProblem(fr.Data).Failure(0)
	}
	if usage := readUsage(data.Get("usageMetadata")); usage.Has {
		dst = append(dst, llm.Event{Usage: usage})
	}
	candidates := data.Get("candidates").Array()
	if len(candidates) == 0 && data.Get("promptFeedback.blockReason").Exists() {
		for i := range d.choices {
			dst = append(dst, llm.Event{Choice: i, Finish: llm.FinishFilter})
		}
	}
	for _, c := range candidates {
		var err error
		if dst, err = d.candidate(dst, c); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func (d *decoder) candidate(dst []llm.Event, c gjson.Result) ([]llm.Event, error) {
	choice := int(c.Get("index").Int())
	if choice < 0 || choice >= d.choices {
		choice = 0
	}
	for _, part := range c.Get("content.parts").Array() {
		text := d.text.Unquote([]byte(part.Get("text").Raw))
		switch call := part.Get("functionCall"); {
		case call.IsObject():
			dst = append(dst, llm.Event{Choice: choice, Tool: d.call(choice, call)})
		case part.Get("thought").Bool():
			dst = append(dst, llm.Event{Choice: choice, Reasoning: text})
		default:
			dst = append(dst, llm.Event{Choice: choice, Text: text})
		}
	}
	word := c.Get("finishReason").String()
	if word == "" || word == "FINISH_REASON_UNSPECIFIED" {
		return dst, nil
	}
	if broken[word] {
		return dst, llm.Upstream(http.StatusBadGateway, "", "The backend broke its answer off (%s). %s", word, c.Get("finishMessage").String())
	}
	why, err := adapters.FinishWord(word, finish)
	return append(dst, llm.Event{Choice: choice, Finish: why}), err
}

// call returns a call, which is always whole.
func (d *decoder) call(choice int, object gjson.Result) *llm.ToolDelta {
	call := &llm.ToolDelta{
		Index: d.calls[choice], ID: adapters.CallID(object.Get("id").String()),
		Name: object.Get("name").String(), Arguments: []byte("{}"),
	}
	if args := object.Get("args"); args.IsObject() {
		call.Arguments = []byte(args.Raw)
	}
	d.calls[choice]++
	return call
}

// readUsage reads the counts, which include what was not said before.
func readUsage(u gjson.Result) llm.Usage {
	if !u.IsObject() {
		return llm.Usage{}
	}
	count := func(name string) int { return int(max(u.Get(name).Int(), 0)) }
	thoughts := count("thoughtsTokenCount")
	return llm.Usage{
		Has:        true,
		Prompt:     count("promptTokenCount") + count("toolUsePromptTokenCount"),
		Completion: count("candidatesTokenCount") + thoughts,
		Cached:     count("cachedContentTokenCount"),
		Reasoning:  thoughts,
	}
}
