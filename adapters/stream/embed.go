package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// maxEmbeddings bounds the answer to one call: 2048 embeddings of 3072 numbers
// with all their digits come near 150 MB.
const maxEmbeddings = 256 << 20

// Embed asks the backend for embeddings, in as many calls, one after the other, as
// batch inputs to a call make it; 0 is one call. Each has the time limit of
// up.First. An error is ctx's own or an *llm.Error.
func Embed(ctx context.Context, up *Upstream, e adapters.Embedder, batch int, req *llm.EmbedRequest) (*llm.Embeddings, error) {
	if batch = cmp.Or(batch, req.N); req.N <= batch || req.Tokens != nil {
		return embed(ctx, up, e, req)
	}
	all := &llm.Embeddings{Vectors: make([][]float32, 0, req.N)}
	for at := 0; at < req.N; at += batch {
		part := *req
		part.Texts = req.Texts[at:min(at+batch, req.N)]
		part.N = len(part.Texts)
		made, err := embed(ctx, up, e, &part)
		if err != nil {
			return nil, err
		}
		all.Vectors = append(all.Vectors, made.Vectors...)
		all.PromptTokens += made.PromptTokens
		all.Estimated = all.Estimated || made.Estimated
	}
	return all, nil
}

// embed makes one call.
func embed(ctx context.Context, up *Upstream, e adapters.Embedder, req *llm.EmbedRequest) (*llm.Embeddings, error) {
	call, err := e.EmbedRequest(req)
	if err != nil {
		return nil, err
	}
	answer, err := up.ask(ctx, call, maxEmbeddings)
	if err != nil {
		return nil, ofInput(err)
	}
	made, err := e.ReadEmbeddings(req, answer)
	if err == nil {
		err = complete(made, req)
	}
	if err != nil {
		return nil, ofInput(up.decodeError(err, answer))
	}
	if made.PromptTokens <= 0 {
		made.PromptTokens, made.Estimated = tokens(inputBytes(req)), true
	}
	return made, nil
}

// complete checks that there is an embedding for each input.
func complete(made *llm.Embeddings, req *llm.EmbedRequest) error {
	if len(made.Vectors) != req.N {
		return llm.Upstream(http.StatusBadGateway, "", "The backend answered %d inputs with %d embeddings.", req.N, len(made.Vectors))
	}
	for i, v := range made.Vectors {
		if len(v) == 0 {
			return fmt.Errorf("embedding %d is empty", i)
		}
	}
	return nil
}

// ofInput names the request's own field in an error that is about its length.
func ofInput(err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok || e.Param != "messages" {
		return err
	}
	said := *e
	said.Param = "input"
	return &said
}

func inputBytes(req *llm.EmbedRequest) int {
	n := len(req.Tokens)
	for _, text := range req.Texts {
		n += len(text)
	}
	return n
}
