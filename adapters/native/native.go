// Package native speaks to Dragoman's own engine: POST /generate with a prompt
// of pieces, answered by one JSON line per token and a last line that says why
// the engine stopped (engine/PROTOCOL.md). A token's bytes may end inside a
// character; joining them, and stop strings, are left to package stream.
package native

import (
	"encoding/base64"
	"fmt"
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
} = Adapter{}

var traits = adapters.Traits{
	Framing:     frame.NDJSON,
	Accepts:     []string{"temperature", "top_p", "top_k", "min_p", "seed", "stop_token_ids"},
	Health:      adapters.Question{Path: "/health"},
	Models:      adapters.Question{Path: "/props", Field: "model"},
	NoMaxTokens: true,
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
	for _, p := range []llm.Param{llm.Temperature, llm.TopP, llm.TopK, llm.MinP, llm.Seed, llm.StopTokenIDs} {
		body = adapters.AppendParam(body, req, p, p.String())
	}
	return adapters.PostJSON("/generate", append(body, '}')), nil
}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct{ text []byte }

// Decode implements adapters.Decoder.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	var (
		ev   llm.Event
		done []byte
		err  error
	)
	for name, value := range jsonscan.All(fr.Data) {
		switch string(name) {
		case "text":
			d.text = jsonscan.AppendUnquoted(d.text[:0], value)
			ev.Text = d.text
		case "bytes":
			encoded := jsonscan.AppendUnquoted(nil, value)
			if d.text, err = base64.StdEncoding.AppendDecode(d.text[:0], encoded); err != nil {
				return dst, fmt.Errorf("decode a token's bytes: %w", err)
			}
			ev.Text = d.text
		case "done":
			done = value
		case "prompt_tokens":
			ev.Usage.Prompt, ev.Usage.Has = adapters.Int(value), true
		case "completion_tokens":
			ev.Usage.Completion, ev.Usage.Has = adapters.Int(value), true
		case "error":
			return dst, adapters.ReadProblem(value).Failure(0)
		}
	}
	if done != nil {
		if ev.Finish, err = adapters.FinishWord(adapters.Text(done), nil); err != nil {
			return dst, err
		}
	}
	return append(dst, ev), nil
}
