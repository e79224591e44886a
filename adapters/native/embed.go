package native

import (
	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// EmbedRequest implements adapters.Embedder.
func (Adapter) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	var inputs adapters.List
	for _, text := range req.Texts {
		inputs.Add(append(adapters.AppendString([]byte(`[{"text":`), text), "}]"...))
	}
	var body adapters.Object
	body.Set("input", inputs.JSON())
	return adapters.PostJSON("/embed", body.JSON()), nil
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
		case "prompt_tokens":
			made.PromptTokens = adapters.Int(value)
		}
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}
