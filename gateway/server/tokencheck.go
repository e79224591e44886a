package server

import (
	"net/http"

	"dragoman/gateway/openai"
)

// tokenCheck counts tokens, as FastChat's API server does for its clients.
func (r *request) tokenCheck(string) error {
	body, err := r.readBody()
	if err != nil {
		return err
	}
	checks, err := openai.ParseTokenCheck(body)
	if err != nil {
		return err
	}
	job := r.newJob()
	defer job.end()
	counts := make([]openai.TokenCount, len(checks))
	for i := range checks {
		c := &checks[i]
		model, err := r.s.o.Router.Pick(c.Model)
		if err != nil {
			return err
		}
		n := &counts[i]
		if n.Tokens, n.Context, err = model.Count(job.ctx, c.Prompt); err != nil {
			return job.explain(err)
		}
		n.Fits = int64(n.Tokens)+c.MaxTokens <= int64(n.Context)
	}
	r.writeJSON(http.StatusOK, openai.AppendTokenCounts(nil, counts))
	return nil
}
