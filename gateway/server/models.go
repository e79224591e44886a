package server

import (
	"net/http"

	"dragoman/gateway/openai"
)

func (r *request) listModels(string) error {
	r.writeJSON(http.StatusOK, openai.AppendModels(nil, r.s.o.Router.Models(r.s.base)))
	return nil
}

// showModel answers for every name that a request could use, a wildcard's too.
func (r *request) showModel(id string) error {
	info, err := r.s.o.Router.Describe(r.s.base, id)
	if err != nil {
		return err
	}
	r.writeJSON(http.StatusOK, openai.AppendModel(nil, info))
	return nil
}

// health tells a load balancer whether to send more.
func (r *request) health(string) error {
	if r.s.conns.draining() {
		r.writeJSON(http.StatusServiceUnavailable, []byte(`{"status":"stopping"}`))
		return nil
	}
	r.writeJSON(http.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}

func (r *request) welcome(string) error {
	r.ctx.Response.Header.SetContentType("text/plain; charset=utf-8")
	r.ctx.Response.SetBodyString("Dragoman serves the OpenAI API: try GET /v1/models and POST /v1/chat/completions.\n")
	return nil
}
