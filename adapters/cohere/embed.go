package cohere

import (
	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// EmbedRequest implements adapters.Embedder. The API wants to know what the texts
// are for: a client may say it as input_type, else they are to be found. What is
// too long is an error, as the API would cut it.
func (Adapter) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	purpose := []byte(`"search_document"`)
	for _, m := range req.Members {
		if m.Name == "input_type" {
			purpose = req.Raw[m.Start:m.End]
		}
	}
	var body adapters.Object
	body.SetText("model", req.Model)
	body.Set("texts", adapters.AppendStrings(nil, req.Texts))
	body.Set("input_type", purpose)
	body.Set("embedding_types", []byte(`["float"]`))
	body.SetText("truncate", "NONE")
	if req.Dimensions > 0 {
		body.SetInt("output_dimension", int64(req.Dimensions))
	}
	return adapters.PostJSON("/v2/embed", body.JSON()), nil
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
			made.Vectors, err = adapters.Vectors(within(value, "float"))
		case "meta":
			made.PromptTokens = adapters.Int(within(within(value, "billed_units"), "input_tokens"))
		}
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

// within returns the member of an object called name, nil if there is none.
func within(object []byte, name string) []byte {
	var found []byte
	for n, value := range jsonscan.All(object) {
		if string(n) == name {
			found = value
		}
	}
	return found
}
