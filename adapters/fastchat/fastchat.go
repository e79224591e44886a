// Package fastchat speaks to FastChat workers (and to the controller, which
// passes the same frames on): POST /worker_generate_stream with a prompt,
// answered by JSON objects that each end in a NUL byte and repeat the whole
// text so far. The prompt is rendered from the conversation template that the
// worker itself uses (conv.go).
//
// Facts about workers that shaped the code: a null where a number belongs
// breaks the connection without a word, so absent settings are left out; echo
// is true unless told otherwise; a frame with an error_code has an error
// message where the text is; some workers never say why they stopped; a prompt
// that is too long is cut from the left without a word (fit.go).
package fastchat

import (
	"fmt"
	"net/http"
	"strconv"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Adapter speaks the worker's protocol. The zero value is ready.
type Adapter struct{}

var _ interface {
	adapters.Adapter
	adapters.Templater
	adapters.Embedder
	adapters.Fitter
	adapters.Counter
	adapters.Finder
} = Adapter{}

var traits = adapters.Traits{
	Framing:      frame.NDJSON,
	Cumulative:   true,
	EOFIsFinish:  true,
	Health:       adapters.Question{Method: http.MethodPost, Path: "/worker_get_status"},
	Models:       adapters.Question{Method: http.MethodPost, Path: "/worker_get_status", Field: "model_names"},
	SingleChoice: true,
	NoMaxTokens:  true,
	PromptStops:  true,
	EmbedBatch:   4, // as FastChat's own API server sends them, unless told otherwise
	Accepts: []string{
		"temperature", "top_p", "top_k", "repetition_penalty", "presence_penalty",
		"frequency_penalty", "stop_token_ids", "stop",
	},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }

// params are the settings that workers read, under these same names.
var params = []llm.Param{
	llm.Temperature, llm.TopP, llm.TopK, llm.RepetitionPenalty,
	llm.PresencePenalty, llm.FrequencyPenalty, llm.StopTokenIDs,
}

// Request implements adapters.Adapter. The model is always sent, as a worker
// that serves several cannot do without.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	body := adapters.AppendString([]byte(`{"model":`), req.Model)
	body = adapters.AppendString(append(body, `,"prompt":`...), req.Prompt.Text())
	for _, p := range params {
		body = adapters.AppendParam(body, req, p, p.String())
	}
	// Less than 1 crashes the worker; without a number it takes its own 256.
	if req.MaxTokens >= 1 {
		body = strconv.AppendInt(append(body, `,"max_new_tokens":`...), req.MaxTokens, 10)
	}
	if len(req.Stop) > 0 {
		body = adapters.AppendStrings(append(body, `,"stop":`...), req.Stop)
	}
	return adapters.PostJSON("/worker_generate_stream", append(body, `,"echo":false}`...)), nil
}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(req *llm.Request) adapters.Decoder { return &decoder{maxTokens: req.MaxTokens} }

type decoder struct {
	text      jsonscan.Growing
	maxTokens int64
}

// Decode implements adapters.Decoder.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	data := d.text.Shorten(fr.Data)
	if err := adapters.CheckJSON(data); err != nil {
		return dst, err
	}
	var (
		ev                  llm.Event
		text, finish, usage []byte
		code                int
	)
	for name, value := range jsonscan.All(data) {
		switch string(name) {
		case "text":
			text = value
		case "error_code":
			code = adapters.Int(value)
		case "finish_reason":
			finish = value
		case "usage":
			usage = value
		}
	}
	if code != 0 {
		return dst, failure(code, string(d.text.Text(text)))
	}
	if text == nil {
		return dst, fmt.Errorf("frame without text: %.80q", fr.Data)
	}
	ev.Text = d.text.Text(text)
	for name, value := range jsonscan.All(usage) {
		switch string(name) {
		case "prompt_tokens":
			ev.Usage.Prompt, ev.Usage.Has = adapters.Int(value), true
		case "completion_tokens":
			ev.Usage.Completion, ev.Usage.Has = adapters.Int(value), true
		}
	}
	if word := adapters.Text(finish); word != "" {
		var err error
		if ev.Finish, err = adapters.FinishWord(word, nil); err != nil {
			return dst, err
		}
	}
	// Workers that run on transformers give the number of the last token, from
	// 0: one too low, unless that token is the end.
	if ev.Finish == llm.FinishLength && int64(ev.Usage.Completion) == d.maxTokens-1 {
		ev.Usage.Completion++
	}
	return append(dst, ev), nil
}

// failure translates a worker's error code (fastchat/constants.py).
func failure(code int, message string) *llm.Error {
	status := http.StatusBadGateway
	switch {
	case code == 40303:
		return adapters.ContextLength(message)
	case code == 40301: // no such model on this worker
		status = http.StatusNotFound
	case code/100 == 401:
		status = http.StatusUnauthorized
	case code/100 == 400, code/100 == 403:
		status = http.StatusBadRequest
	case code/100 == 429:
		status = http.StatusTooManyRequests
	case code == 50002, code == 50005: // out of GPU memory; the controller knows no worker
		status = http.StatusServiceUnavailable
	case code == 50006: // the controller's worker timed out
		status = http.StatusGatewayTimeout
	}
	return adapters.Failure(status, message)
}
