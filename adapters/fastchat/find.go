package fastchat

import (
	"context"
	"net/http"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Find implements adapters.Finder by the controller's own dispatch: it knows the
// workers' queues, and counts this request.
func (Adapter) Find(ctx context.Context, ask adapters.Ask, model string) (string, error) {
	body := append(adapters.AppendString([]byte(`{"model":`), model), '}')
	address, err := member(ctx, ask, "/get_worker_address", body, "address")
	if err != nil {
		return "", err
	}
	if address[0] != '"' {
		return "", notController()
	}
	return adapters.Text(address), nil
}

// Models implements adapters.Finder. The list is what the workers' heartbeats say.
// /refresh_all_workers would say it more exactly, but asks one worker after the
// other, and until the last has answered the controller answers nobody.
func (Adapter) Models(ctx context.Context, ask adapters.Ask) ([]string, error) {
	list, err := member(ctx, ask, "/list_models", nil, "models")
	if err != nil {
		return nil, err
	}
	if list[0] != '[' {
		return nil, notController()
	}
	var names []string
	for name := range jsonscan.Elements(list) {
		if text := adapters.Text(name); text != "" {
			names = append(names, text)
		}
	}
	return names, nil
}

// member asks the controller and returns one member of its answer.
func member(ctx context.Context, ask adapters.Ask, path string, body []byte, name string) ([]byte, error) {
	answer, err := ask(ctx, adapters.PostJSON(path, body))
	if err != nil {
		return nil, err
	}
	if err := adapters.CheckJSON(answer); err != nil {
		return nil, err
	}
	for n, value := range jsonscan.All(answer) {
		if string(n) == name {
			return value, nil
		}
	}
	return nil, notController()
}

func notController() *llm.Error {
	return llm.Upstream(http.StatusBadGateway, "", "The controller's answer is not what FastChat's controller says.")
}
