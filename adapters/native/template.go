package native

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"dragoman/adapters"
	"dragoman/adapters/prompt"
)

// props is what the adapter needs of GET /props.
type props struct {
	ChatTemplate  string   `json:"chat_template"`
	BOSToken      string   `json:"bos_token"`
	EOSToken      string   `json:"eos_token"`
	SpecialTokens []string `json:"special_tokens"`
}

// Template implements adapters.Templater with the template that the model file
// holds. The engine itself sees to it that a prompt begins with one BOS.
func (Adapter) Template(ctx context.Context, ask adapters.Ask, model string) (adapters.Template, error) {
	body, err := ask(ctx, adapters.Call{Method: http.MethodGet, Path: "/props"})
	if err != nil {
		return nil, err
	}
	if err := adapters.CheckJSON(body); err != nil {
		return nil, err
	}
	var p props
	if err := json.Unmarshal(body, &p); err != nil {
		return nil, fmt.Errorf("reading the engine's properties: %w", err)
	}
	if p.ChatTemplate == "" {
		return nil, fmt.Errorf("model %q has no chat template of its own: name one with template: in the configuration", model)
	}
	return prompt.Jinja(p.ChatTemplate, prompt.Options{
		BOS: p.BOSToken, EOS: p.EOSToken, Special: p.SpecialTokens, Fold: true,
	})
}
