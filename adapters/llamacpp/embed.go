package llamacpp

import (
	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// EmbedRequest implements adapters.Embedder. The route is the server's copy of
// OpenAI's: the answer of its own one, /embedding, counts nothing.
func (Adapter) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	var body adapters.Object
	body.SetText("model", req.Model)
	body.Set("input", adapters.EmbedInput(req))
	body.SetText("encoding_format", "float")
	if req.Dimensions > 0 {
		body.SetInt("dimensions", int64(req.Dimensions))
	}
	return adapters.PostJSON("/v1/embeddings", body.JSON()), nil
}

// ReadEmbeddings implements adapters.Embedder.
func (Adapter) ReadEmbeddings(_ *llm.EmbedRequest, answer []byte) (*llm.Embeddings, error) {
	return adapters.ReadOpenAIEmbeddings(answer)
}
