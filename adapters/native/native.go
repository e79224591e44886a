// Package native speaks to Dragoman's own engine: POST /generate with a prompt
// of pieces, answered by one JSON line per token and a last line that says why
// the engine stopped (engine/PROTOCOL.md). A token's bytes may end inside a
// character; joining them, and stop strings, are left to package stream.
package native

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Adapter speaks the engine's protocol. The zero value is ready.
type Adapter struct{}

var _ interface {
	adapters.Adapter
	adapters.Templater
	adapters.Embedder
} = Adapter{}

var traits = adapters.Traits{
	Framing:     frame.NDJSON,
	Health:      adapters.Question{Path: "/health"},
	Models:      adapters.Question{Path: "/props", Field: "model"},
	NoMaxTokens: true,
	Accepts: []string{
		"temperature", "top_p", "top_k", "min_p", "seed", "stop_token_ids", "min_tokens",
		"frequency_penalty", "presence_penalty", "repetition_penalty", "logit_bias", "logprobs",
		"response_format",
	},
	Fields: map[string]string{"json_schema": "response_format.json_schema.schema"},
}

// sent are the settings that the engine knows by their OpenAI names.
var sent = [...]llm.Param{
	llm.Temperature, llm.TopP, llm.TopK, llm.MinP, llm.Seed, llm.StopTokenIDs, llm.MinTokens,
	llm.FrequencyPenalty, llm.PresencePenalty, llm.RepetitionPenalty, llm.LogitBias,
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }

// Request implements adapters.Adapter.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	body := []byte(`{"prompt":[`)
	for i, piece := range req.Prompt {
		if i > 0 {
			body = append(body, ',')
		}
		body = adapters.AppendString(append(body, `{"text":`...), piece.Text)
		if piece.Special {
			body = append(body, `,"special":true`...)
		}
		body = append(body, '}')
	}
	body = append(body, ']')
	if req.MaxTokens > 0 {
		body = strconv.AppendInt(append(body, `,"max_tokens":`...), req.MaxTokens, 10)
	}
	for _, p := range sent {
		body = adapters.AppendParam(body, req, p, p.String())
	}
	if req.Logprobs {
		body = strconv.AppendInt(append(body, `,"logprobs":`...), int64(req.TopLogprobs), 10)
	}
	if len(req.Spell) > 0 {
		body = adapters.AppendStrings(append(body, `,"spell":`...), req.Spell)
	}
	form, schema := adapters.AnswerForm(req)
	switch form {
	case "json_object":
		body = append(body, `,"json":true`...)
	case "json_schema":
		body = append(append(body, `,"json_schema":`...), schema...)
	}
	if form != "text" && len(req.After) > 0 {
		body = adapters.AppendStrings(append(body, `,"after":`...), req.After)
	}
	if c := client(req); c != "" {
		body = adapters.AppendString(append(body, `,"client":`...), c)
	}
	return adapters.PostJSON("/generate", append(body, '}')), nil
}

// client names who asks, by the key and by what the client says itself.
func client(req *llm.Request) string {
	for _, m := range req.Members {
		if user := adapters.Text(req.Raw[m.Start:m.End]); m.Name == "user" && user != "" {
			return req.Client + "/" + user
		}
	}
	return req.Client
}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct{ text []byte }

// tokenText appends the text of a token to dst, out of the member name of what
// says it: text or bytes. Other members append nothing.
func tokenText(dst []byte, name string, value []byte) ([]byte, error) {
	switch name {
	case "text":
		return jsonscan.AppendUnquoted(dst, value), nil
	case "bytes":
		encoded := jsonscan.AppendUnquoted(nil, value)
		dst, err := base64.StdEncoding.AppendDecode(dst, encoded)
		if err != nil {
			return dst, fmt.Errorf("decode a token's bytes: %w", err)
		}
		return dst, nil
	}
	return dst, nil
}

// Decode implements adapters.Decoder.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	var (
		ev   llm.Event
		done []byte
		err  error

		logprob, top []byte
	)
	for name, value := range jsonscan.All(fr.Data) {
		switch string(name) {
		case "text", "bytes":
			if d.text, err = tokenText(d.text[:0], string(name), value); err != nil {
				return dst, err
			}
			ev.Text = d.text
		case "logprob":
			logprob = value
		case "top":
			top = value
		case "done":
			done = value
		case "prompt_tokens":
			ev.Usage.Prompt, ev.Usage.Has = adapters.Int(value), true
		case "cached_tokens":
			ev.Usage.Cached = adapters.Int(value)
		case "completion_tokens":
			ev.Usage.Completion, ev.Usage.Has = adapters.Int(value), true
		case "error":
			return dst, adapters.ReadProblem(value).Failure(0)
		}
	}
	if logprob != nil {
		if ev.Logprobs, err = readLogprob(ev.Text, logprob, top); err != nil {
			return dst, err
		}
	}
	if done != nil {
		if ev.Finish, err = adapters.FinishWord(adapters.Text(done), nil); err != nil {
			return dst, err
		}
	}
	return append(dst, ev), nil
}

// readLogprob returns the token with that text and what the engine says of its
// probability.
func readLogprob(text, logprob, top []byte) ([]llm.Logprob, error) {
	l := llm.Logprob{Token: slices.Clone(text), Logprob: adapters.Float(logprob)}
	for one := range jsonscan.Elements(top) {
		var t llm.TopLogprob
		var err error
		for name, value := range jsonscan.All(one) {
			if string(name) == "logprob" {
				t.Logprob = adapters.Float(value)
			} else if t.Token, err = tokenText(t.Token, string(name), value); err != nil {
				return nil, err
			}
		}
		l.Top = append(l.Top, t)
	}
	return []llm.Logprob{l}, nil
}
