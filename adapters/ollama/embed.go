package ollama

import (
	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// EmbedRequest implements adapters.Embedder. An input that is too long is an
// error: Ollama would cut it.
func (Adapter) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	var body adapters.Object
	body.SetText("model", req.Model)
	body.Set("input", adapters.AppendStrings(nil, req.Texts))
	body.Set("truncate", []byte("false"))
	if req.Dimensions > 0 {
		body.SetInt("dimensions", int64(req.Dimensions))
	}
	return adapters.PostJSON("/api/embed", body.JSON()), nil
}

// ReadEmbeddings implements adapters.Embedder.
func (Adapter) ReadEmbeddings(_ *llm.EmbedRequest, answer []byte) (*llm.Embeddings, error) {
	if err := adapters.CheckJSON(answer); err != nil {
		return nil, err
	}
	made := &llm.Embeddings{}
	for name, value := range jsonscan.All(answer) {
		var err error
		switch string(name) {
		case "embeddings":
			made.Vectors, err = adapters.Vectors(value)
		case "prompt_eval_count":
			made.PromptTokens = adapters.Int(value)
		}
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}
