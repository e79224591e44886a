package openai

import (
	"slices"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// EmbedRequest implements adapters.Embedder. Numbers are asked for as such: they
// are what every server can do.
func (Adapter) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	return postEmbed(req, "/v1/embeddings", "dimensions"), nil
}

// ReadEmbeddings implements adapters.Embedder.
func (Adapter) ReadEmbeddings(_ *llm.EmbedRequest, answer []byte) (*llm.Embeddings, error) {
	return adapters.ReadOpenAIEmbeddings(answer)
}

// EmbedRequest implements adapters.Embedder.
func (Azure) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	path, err := deployment(req.Model)
	return postEmbed(req, path+"/embeddings", "dimensions"), err
}

// EmbedRequest implements adapters.Embedder.
func (Mistral) EmbedRequest(req *llm.EmbedRequest) (adapters.Call, error) {
	return postEmbed(req, "/v1/embeddings", "output_dimension", "user"), nil
}

// postEmbed copies the client's members, but for those that are lacking there.
// dimensions is the server's name for that member.
func postEmbed(req *llm.EmbedRequest, path, dimensions string, lacks ...string) adapters.Call {
	var body adapters.Object
	body.SetText("model", req.Model)
	body.Set("input", adapters.EmbedInput(req))
	body.SetText("encoding_format", "float")
	if req.Dimensions > 0 {
		body.SetInt(dimensions, int64(req.Dimensions))
	}
	for _, m := range req.Members {
		switch value := req.Raw[m.Start:m.End]; m.Name {
		case "model", "input", "encoding_format", "dimensions":
		default:
			if !slices.Contains(lacks, m.Name) {
				body.Set(m.Name, value)
			}
		}
	}
	return adapters.PostJSON(path, body.JSON())
}
