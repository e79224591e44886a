package gemini

import (
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// EmbedRequest implements adapters.Embedder, for the Gemini API: Vertex AI has
// another route.
func (Adapter) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	var list adapters.List
	for _, text := range req.Texts {
		var one, content adapters.Object
		one.SetText("model", "models/"+strings.TrimPrefix(req.Model, "models/"))
		content.Set("parts", append(adapters.AppendString([]byte(`[{"text":`), text), "}]"...))
		one.SetObject("content", &content)
		if req.Dimensions > 0 {
			one.SetInt("outputDimensionality", int64(req.Dimensions))
		}
		list.Add(one.JSON())
	}
	var body adapters.Object
	body.Set("requests", list.JSON())
	return adapters.PostJSON(path(req.Model, "batchEmbedContents"), body.JSON()), nil
}

// ReadEmbeddings implements adapters.Embedder. The API does not count tokens here.
func (Adapter) ReadEmbeddings(_ *llm.EmbedRequest, answer []byte) (*llm.Embeddings, error) {
	if err := adapters.CheckJSON(answer); err != nil {
		return nil, err
	}
	made := &llm.Embeddings{}
	for name, list := range jsonscan.All(answer) {
		if string(name) != "embeddings" {
			continue
		}
		for element := range jsonscan.Elements(list) {
			for name, value := range jsonscan.All(element) {
				if string(name) != "values" {
					continue
				}
				v, err := adapters.Vector(value)
				if err != nil {
					return nil, err
				}
				made.Vectors = append(made.Vectors, v)
			}
		}
	}
	return made, nil
}
