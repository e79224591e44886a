package openai

import (
	"net/url"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// Azure speaks to Azure OpenAI's deployments, whose names take the model's
// place: POST /openai/deployments/NAME/chat/completions, with the api-version in
// the query of the backend's URL and the key in a header of its own. Azure's
// newer routes, below /openai/v1, are Adapter's. The zero value is ready.
type Azure struct{ Adapter }

var _ adapters.Adapter = Azure{}

var azureTraits = func() adapters.Traits {
	t := traits
	t.KeyHeader = "Api-Key"
	t.Health, t.Models = adapters.Question{}, adapters.Question{} // deployments are listed elsewhere
	return t
}()

// Traits implements adapters.Adapter.
func (Azure) Traits() *adapters.Traits { return &azureTraits }

// Request implements adapters.Adapter.
func (Azure) Request(req *llm.Request) (adapters.Call, error) {
	path := "/chat/completions"
	if req.Kind == llm.Completion {
		path = "/completions"
	}
	at, err := deployment(req.Model)
	if err != nil {
		return adapters.Call{}, err
	}
	return post(req, at+path, req.Stream)
}

// deployment returns where a deployment's routes are. Its name may come from a
// client: it stays one segment of the path.
func deployment(name string) (string, error) {
	name = url.PathEscape(name)
	if name == "." || name == ".." {
		return "", llm.Invalid("model", "invalid_value", "Invalid 'model': no deployment has that name.")
	}
	return "/openai/deployments/" + name, nil
}
