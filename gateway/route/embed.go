package route

import (
	"context"
	"errors"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/openai"
)

// Embed returns the embeddings that req asks for, from the backends that Open would
// ask, in the same order. An error is an *llm.Error, or the cause of ctx if that has
// ended.
func (m *Model) Embed(ctx context.Context, req *llm.EmbedRequest) (*llm.Embeddings, error) {
	e := &embedding{req: req}
	if err := m.run(ctx, e); err != nil {
		return nil, err
	}
	return e.made, nil
}

// embedding is the errand of a request for embeddings.
type embedding struct {
	req  *llm.EmbedRequest
	made *llm.Embeddings
}

func (e *embedding) able(b *backend) error {
	switch {
	case b.embedder == nil:
		return llm.Invalid("model", "unsupported_value", "The model %s gives no embeddings.", openai.Quote(e.req.Model))
	case e.req.Tokens != nil && !b.adapter.Traits().CanDo("input_ids"):
		return llm.Invalid("input", "unsupported_value",
			"Invalid 'input': token ids are not supported with this model. Send text (LangChain: check_embedding_ctx_length=False).")
	}
	return nil
}

// attempt frees the slot of b.
func (e *embedding) attempt(ctx context.Context, b *backend, model string) error {
	defer b.slots.release()
	made, err := b.embed(ctx, e.req, model)
	if err != nil {
		return err
	}
	for _, v := range made.Vectors {
		if n := e.req.Dimensions; n > 0 && n != len(v) && !b.drop["dimensions"] {
			return llm.Invalid("dimensions", "unsupported_parameter",
				"'dimensions' is not supported with this model, whose embeddings have %d.", len(v))
		}
	}
	e.made = made
	return nil
}

func (e *embedding) usual() bool { return false }

// embed asks the server for embeddings. Where a controller knows it, and it turns
// out to be gone, the controller may name another.
func (b *backend) embed(ctx context.Context, req *llm.EmbedRequest, model string) (*llm.Embeddings, error) {
	for again := b.controller != nil; ; again = false {
		up, held, err := b.reach(ctx, req.Model, model)
		if err != nil {
			return nil, err
		}
		made, err := b.embedAt(ctx, up, b.prepareEmbed(req, model), held)
		if err == nil || !again || !errors.Is(err, stream.ErrUnreachable) {
			return made, err
		}
	}
}

// embedAt asks the server at up once. It calls held when it is needed no more.
func (b *backend) embedAt(ctx context.Context, up *stream.Upstream, req *llm.EmbedRequest, held func()) (*llm.Embeddings, error) {
	defer held()
	if err := b.wellAgain(ctx, up); err != nil {
		return nil, err
	}
	return stream.Embed(ctx, up, b.embedder, b.adapter.Traits().EmbedBatch, req)
}

// prepareEmbed returns the request as the backend shall get it.
func (b *backend) prepareEmbed(req *llm.EmbedRequest, model string) *llm.EmbedRequest {
	r := *req
	r.Model = model
	if len(b.drop) == 0 {
		return &r
	}
	if b.drop["dimensions"] {
		r.Dimensions = 0
	}
	r.Members = nil
	for _, m := range req.Members {
		if !b.drop[m.Name] {
			r.Members = append(r.Members, m)
		}
	}
	return &r
}
