package server

import (
	"net/http"

	"dragoman/gateway/openai"
)

// embed replies with the embeddings of what the client sent.
func (r *request) embed(string) error {
	body, err := r.readBody()
	if err != nil {
		return err
	}
	ask, err := openai.ParseEmbeddings(body)
	if err != nil {
		return err
	}
	r.line.model = ask.Model
	model, err := r.s.o.Router.Pick(ask.Model)
	if err != nil {
		return err
	}
	r.line.backend = model.Name()
	job := r.newJob()
	defer job.end()
	made, err := model.Embed(job.ctx, &ask.Request)
	if err != nil {
		return job.explain(err)
	}
	r.writeJSON(http.StatusOK, openai.AppendEmbeddings(nil, ask, made))
	return nil
}
