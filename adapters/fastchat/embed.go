package fastchat

import (
	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// EmbedRequest implements adapters.Embedder.
func (Adapter) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	var body adapters.Object
	body.SetText("model", req.Model)
	body.Set("input", adapters.AppendStrings(nil, req.Texts))
	return adapters.PostJSON("/worker_get_embeddings", body.JSON()), nil
}

// ReadEmbeddings implements adapters.Embedder.
func (Adapter) ReadEmbeddings(_ *llm.EmbedRequest, answer []byte) (*llm.Embeddings, error) {
	if err := adapters.CheckJSON(answer); err != nil {
		return nil, err
	}
	made := &llm.Embeddings{}
	code, text := 0, ""
	for name, value := range jsonscan.All(answer) {
		var err error
		switch string(name) {
		case "embedding":
			made.Vectors, err = adapters.Vectors(value)
		case "token_num":
			made.PromptTokens = adapters.Int(value)
		case "error_code":
			code = adapters.Int(value)
		case "text":
			text = adapters.Text(value)
		}
		if err != nil {
			return nil, err
		}
	}
	if code != 0 {
		return nil, failure(code, text)
	}
	return made, nil
}
