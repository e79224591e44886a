// Package replicate speaks to Replicate's API in two steps: a prediction is
// created, and its answer names the address of the stream, server-sent events
// of plain text. A prediction goes on when nobody listens, so one that is not
// wanted any more is cancelled by name.
//
// Models have inputs of their own; these are the names that its language models
// share. Counts of tokens are never told, nor why an answer ended.
package replicate

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// Adapter speaks Replicate's predictions API. The zero value is ready.
type Adapter struct{}

var _ adapters.Adapter = Adapter{}

var traits = adapters.Traits{
	Framing: frame.SSE,
	Accepts: []string{"temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty", "seed"},
}

// Traits implements adapters.Adapter.
func (Adapter) Traits() *adapters.Traits { return &traits }

// Request implements adapters.Adapter. The model is owner/name, a version of one
// (owner/name:version or the version alone), or deployments/owner/name.
func (Adapter) Request(req *llm.Request) (adapters.Call, error) {
	path, version, err := place(req.Model)
	if err != nil {
		return adapters.Call{}, err
	}
	var input, body adapters.Object
	input.SetText("prompt", req.Prompt.Text())
	if req.MaxTokens > 0 {
		input.SetInt("max_tokens", req.MaxTokens)
	}
	for _, name := range traits.Accepts {
		p, _ := llm.ParamNamed(name)
		input.Set(name, []byte(req.Params[p]))
	}
	if version != "" {
		body.SetText("version", version)
	}
	body.Set("stream", []byte("true"))
	body.Set("input", input.JSON())
	return adapters.PostJSON(path, body.JSON()), nil
}

// place returns the route for predictions of a model, and the version to ask for.
func place(model string) (path, version string, err error) {
	name, version, _ := strings.Cut(model, ":")
	parts := strings.Split(name, "/")
	if parts[0] == "deployments" && len(parts) == 3 {
		parts, path = parts[1:], "/v1/deployments/"
	}
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			parts = nil
		}
	}
	switch {
	case len(parts) == 1 && path == "" && version == "":
		return "/v1/predictions", parts[0], nil
	case len(parts) != 2 || path != "" && version != "":
		return "", "", llm.Invalid("model", "invalid_value",
			"Invalid 'model': models of this backend are called owner/name, owner/name:version or deployments/owner/name.")
	case version != "":
		return "/v1/predictions", version, nil
	case path == "":
		path = "/v1/models/"
	}
	return path + url.PathEscape(parts[0]) + "/" + url.PathEscape(parts[1]) + "/predictions", "", nil
}

// Decoder implements adapters.Adapter.
func (Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct{ id string }

var _ interface {
	adapters.Follower
	adapters.Canceler
} = (*decoder)(nil)

// Follow implements adapters.Follower.
func (d *decoder) Follow(answer []byte) (adapters.Call, error) {
	if err := adapters.CheckJSON(answer); err != nil {
		return adapters.Call{}, err
	}
	made := gjson.ParseBytes(answer)
	d.id = made.Get("id").String()
	if status := made.Get("status").String(); status == "failed" || status == "canceled" {
		return adapters.Call{}, failure([]byte(made.Get("error").String()))
	}
	to := made.Get("urls.stream").String()
	if to == "" {
		return adapters.Call{}, llm.Upstream(http.StatusBadGateway, "", "This model gives no stream of its answer.")
	}
	header := http.Header{"Accept": {"text/event-stream"}, "Cache-Control": {"no-store"}}
	return adapters.Call{Method: http.MethodGet, URL: to, Header: header}, nil
}

// Cancel implements adapters.Canceler.
func (d *decoder) Cancel() (adapters.Call, bool) {
	call := adapters.PostJSON("/v1/predictions/"+url.PathEscape(d.id)+"/cancel", nil)
	return call, d.id != "" && d.id != "." && d.id != ".."
}

// Decode implements adapters.Decoder.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	switch fr.Event {
	case "output":
		return append(dst, llm.Event{Text: fr.Data}), nil
	case "error":
		return dst, failure(fr.Data)
	case "done":
		switch reason := gjson.GetBytes(checked(fr.Data), "reason").String(); reason {
		case "":
			return append(dst, llm.Event{Finish: llm.FinishStop}), nil
		default:
			return dst, failure([]byte("The prediction ended: " + adapters.Clip([]byte(reason), 64)))
		}
	}
	return dst, nil // logs, and whatever comes later
}

// checked returns data if gjson may see it.
func checked(data []byte) []byte {
	if adapters.CheckJSON(data) != nil {
		return nil
	}
	return data
}

// failure is the error in the words of a prediction: JSON, or text.
func failure(said []byte) *llm.Error {
	if checked(said) != nil {
		if p := adapters.ReadProblem(said); p.Message != "" {
			return p.Failure(0)
		}
	}
	return adapters.Failure(http.StatusBadGateway, adapters.Clip(said, 500))
}
