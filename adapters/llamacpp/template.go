package llamacpp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/prompt"
)

// props is what the adapter needs of GET /props.
type props struct {
	ChatTemplate string `json:"chat_template"`
	BOSToken     string `json:"bos_token"`
	EOSToken     string `json:"eos_token"`
}

// Template implements adapters.Templater with the template that the server
// has, from the model file or from its command line.
func (Adapter) Template(ctx context.Context, ask adapters.Ask, model string) (adapters.Template, error) {
	var p props
	call := adapters.Call{Method: http.MethodGet, Path: "/props?model=" + url.QueryEscape(model)} // routers want the model
	if err := answer(ctx, ask, call, &p); err != nil {
		return nil, fmt.Errorf("reading the server's properties: %w", err)
	}
	if p.ChatTemplate == "" {
		return nil, fmt.Errorf("model %q has no chat template of its own: name one with template: in the configuration", model)
	}
	t, err := prompt.Jinja(p.ChatTemplate, prompt.Options{BOS: p.BOSToken, EOS: p.EOSToken, Fold: true})
	if err != nil || p.BOSToken == "" || !addsBOS(ctx, ask, model, p.BOSToken) {
		return t, err
	}
	return withoutBOS{t, p.BOSToken}, nil
}

// addsBOS reports whether the server puts a BOS before every prompt, as most
// models want it: then it puts a second one before a BOS.
func addsBOS(ctx context.Context, ask adapters.Ask, model, bos string) bool {
	var body adapters.Object
	body.SetText("model", model)
	body.SetText("content", bos)
	body.Set("add_special", []byte("true"))
	var tokens struct {
		Tokens []int `json:"tokens"`
	}
	if answer(ctx, ask, adapters.PostJSON("/tokenize", body.JSON()), &tokens) != nil {
		return true
	}
	return len(tokens.Tokens) != 1
}

func answer(ctx context.Context, ask adapters.Ask, call adapters.Call, to any) error {
	body, err := ask(ctx, call)
	if err != nil {
		return err
	}
	if err := adapters.CheckJSON(body); err != nil {
		return err
	}
	return json.Unmarshal(body, to)
}

// withoutBOS is a template for servers that add the BOS themselves.
type withoutBOS struct {
	adapters.Template
	bos string
}

// Render implements adapters.Template.
func (t withoutBOS) Render(req *llm.Request) (adapters.Rendered, error) {
	r, err := t.Template.Render(req)
	if len(r.Prompt) > 0 {
		r.Prompt[0].Text = strings.TrimPrefix(r.Prompt[0].Text, t.bos)
	}
	return r, err
}
