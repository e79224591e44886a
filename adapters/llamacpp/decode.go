package llamacpp

import (
	"net/http"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct{ text []byte }

// Decode implements adapters.Decoder.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	if fr.Event == "error" { // the field "error:"
		return dst, adapters.ReadProblem(fr.Data).Failure(0)
	}
	var (
		ev   llm.Event
		last ending
		done bool
	)
	for name, value := range jsonscan.All(fr.Data) {
		switch string(name) {
		case "content":
			d.text = jsonscan.AppendUnquoted(d.text[:0], value)
			ev.Text = d.text
		case "stop":
			done = isTrue(value)
		case "tokens_evaluated":
			ev.Usage.Prompt, ev.Usage.Has = adapters.Int(value), true
		case "tokens_predicted":
			ev.Usage.Completion, ev.Usage.Has = adapters.Int(value), true
		case "timings":
			ev.Usage.Cached = cached(value)
		case "error":
			if !adapters.IsNull(value) {
				return dst, adapters.ReadProblem(value).Failure(0)
			}
		default:
			last.read(name, value)
		}
	}
	if done {
		var err error
		if ev.Finish, err = last.finish(); err != nil {
			return dst, err
		}
	}
	return append(dst, ev), nil
}

func isTrue(value []byte) bool { return string(value) == "true" }

// cached returns how much of the prompt was known from an earlier one.
func cached(timings []byte) int {
	for name, value := range jsonscan.All(timings) {
		if string(name) == "cache_n" {
			return adapters.Int(value)
		}
	}
	return 0
}

// ending is what the last frame says of why it is the last.
type ending struct {
	word             string // stop_type
	limit, truncated bool
}

func (e *ending) read(name, value []byte) {
	switch string(name) {
	case "stop_type":
		e.word = adapters.Text(value)
	case "stopped_limit": // before stop_type, with stopped_eos and stopped_word
		e.limit = isTrue(value)
	case "truncated":
		e.truncated = isTrue(value)
	}
}

var words = map[string]llm.Finish{"eos": llm.FinishStop, "word": llm.FinishStop, "limit": llm.FinishLength}

func (e *ending) finish() (llm.Finish, error) {
	switch {
	case e.limit, e.word == "none" && e.truncated:
		return llm.FinishLength, nil
	case e.word == "none":
		return "", llm.Upstream(http.StatusBadGateway, "", "The backend ended its answer without a reason.")
	case e.word == "":
		return llm.FinishStop, nil
	}
	return adapters.FinishWord(e.word, words)
}
