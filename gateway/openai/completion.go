package openai

import (
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// ParseCompletion reads the body of a (legacy) completions request, as
// ParseChat does.
func ParseCompletion(body []byte) (*Ask, error) {
	p, err := newParser(llm.Completion, body)
	if err != nil {
		return nil, err
	}
	p.common()
	p.prompt()
	p.bestOf()
	if p.req.MaxTokens = p.maxTokens("max_tokens"); p.req.MaxTokens == 0 {
		p.req.MaxTokens = completionTokens
	}
	if p.text("suffix") != "" {
		p.need("suffix", "suffix")
	}
	if n, ok := p.integer("logprobs", 0, maxLogprobs); ok { // 0 asks for the chosen token's
		p.logprobs(n)
	}
	if p.boolean("echo") {
		p.ask.Echo, p.ask.EchoText = true, p.req.Prompt.Text()
		if p.req.Logprobs { // OpenAI gives those of the prompt as well
			p.fail(llm.Invalid("echo", "unsupported_value", "Invalid 'echo': it is not supported together with 'logprobs'."))
		}
	}
	return p.result()
}

// prompt reads a string, or a list of just one.
func (p *parser) prompt() {
	const name = "prompt"
	value := p.value(name)
	if value == nil {
		p.fail(missing(name))
		return
	}
	if value[0] == '[' {
		if value = p.onePrompt(value); value == nil {
			return
		}
	}
	text, ok := jsonscan.Unquote(value)
	if !ok {
		p.fail(wrongType(name, "a string or an array of one string", value))
		return
	}
	p.req.Prompt = llm.Prompt{{Text: text}}
}

// onePrompt returns the only element of a list, nil after an error.
func (p *parser) onePrompt(array []byte) []byte {
	var one []byte
	n := 0
	for element := range jsonscan.Elements(array) {
		if isNumber(element) || element[0] == '[' {
			p.fail(llm.Invalid("prompt", "unsupported_value", "Invalid 'prompt': token ids are not supported. Send the prompt as a string."))
			return nil
		}
		one = element
		n++
	}
	switch {
	case n == 0:
		p.fail(llm.Invalid("prompt", "empty_array", "Invalid 'prompt': empty array. Expected a string or an array of one string."))
		return nil
	case n > 1:
		p.fail(llm.Invalid("prompt", "unsupported_value", "Invalid 'prompt': %d prompts in one request are not supported. Send one request for each.", n))
		return nil
	}
	return one
}

// bestOf reads how many answers the best are to be chosen from.
func (p *parser) bestOf() {
	n, ok := p.integer("best_of", 0, maxBestOf)
	switch {
	case !ok || n <= 1:
	case n < int64(p.req.N):
		p.fail(llm.Invalid("best_of", "invalid_value", "Invalid 'best_of': it must be at least 'n'."))
	default:
		p.need("best_of", "best_of")
	}
}
