package route

import (
	"crypto/rand"
	"strings"

	"dragoman/adapters/llm"
	"dragoman/gateway/openai"
)

// able returns nil, or the error for what the backend cannot do and would change
// what the answer means.
func (b *backend) able(req *llm.Request) error {
	traits := b.adapter.Traits()
	for _, need := range req.Needs {
		if b.drops(need) || traits.CanDo(need.Field) || need.Field == "n" { // see choices
			continue
		}
		if traits.Messages || req.Kind == llm.Completion || b.noTools || !offersTools(need) {
			return unsupported(req, need)
		}
	}
	if req.Kind == llm.Completion && traits.Messages && member(req, "messages") != "" {
		return llm.Invalid("messages", "invalid_type",
			"Invalid type for 'messages': the model %s takes an array of messages, not a prompt.", openai.Quote(req.Model))
	}
	if req.Kind == llm.Completion && traits.Messages && !traits.CanDo("prompt") {
		return llm.Invalid("model", "unsupported_value",
			"The model %s takes messages only: use /v1/chat/completions.", openai.Quote(req.Model))
	}
	return nil
}

// prepare returns the request as the backend shall get it, but for the prompt.
func (b *backend) prepare(req *llm.Request, model string) *llm.Request {
	r := *req
	r.ID, r.Model = rand.Text(), model
	if r.MaxTokens <= 0 && !b.adapter.Traits().NoMaxTokens {
		r.MaxTokens = b.maxTokens
	}
	b.dropFrom(&r)
	return &r
}

// unsupported returns the error for what the backend cannot do. A path that ends
// in type names a value, not a parameter: a content part, a kind of tool.
func unsupported(r *llm.Request, need llm.Need) error {
	if strings.HasSuffix(need.Path, ".type") {
		return llm.Invalid(need.Path, "unsupported_value", "'%s' is not supported with this model.", need.Field)
	}
	what := "'" + need.Path + "'"
	if need.Field == "response_format" && strings.Contains(member(r, "response_format"), `"json_schema"`) {
		// LangChain looks for just these words and adds a hint of its own.
		what += " of type 'json_schema'"
	}
	return llm.Invalid(need.Path, "unsupported_parameter", "%s is not supported with this model.", what)
}

// member returns a top-level member's JSON text as the client sent it, or "".
func member(r *llm.Request, name string) string {
	for _, m := range r.Members {
		if m.Name == name {
			return string(r.Raw[m.Start:m.End])
		}
	}
	return ""
}

// dropFrom removes the fields that the configuration says to leave out.
func (b *backend) dropFrom(r *llm.Request) {
	if len(b.drop) == 0 {
		return
	}
	for name := range b.drop {
		if p, ok := llm.ParamNamed(name); ok {
			r.Params[p] = ""
		}
	}
	if b.drop["max_tokens"] || b.drop["max_completion_tokens"] {
		r.MaxTokens = 0
	}
	if b.drop["stop"] {
		r.Stop = nil
	}
	if b.drop["n"] {
		r.N = 1
	}
	if b.drop["logprobs"] {
		r.Logprobs = false
	}
	needs, members := r.Needs, r.Members
	r.Needs, r.Members = nil, nil
	for _, need := range needs {
		if !b.drops(need) {
			r.Needs = append(r.Needs, need)
		}
	}
	for _, m := range members {
		if !b.drop[m.Name] {
			r.Members = append(r.Members, m)
		}
	}
}

// drops reports whether what need asks for is left out.
func (b *backend) drops(need llm.Need) bool {
	return b.drop[need.Field] || b.drop[firstName(need.Path)]
}

// firstName returns the member of the request that a path begins with.
func firstName(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}

// dropped returns what to drop: with a list of tools goes what chooses among them.
func dropped(names []string) map[string]bool {
	all := make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
		switch name {
		case "tools":
			all["tool_choice"], all["parallel_tool_calls"] = true, true
		case "functions":
			all["function_call"] = true
		case "logprobs":
			all["top_logprobs"] = true
		}
	}
	return all
}
