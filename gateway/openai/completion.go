package openai

import (
	"slices"

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
		p.ask.Echo = p.echo()
		if p.req.Logprobs { // OpenAI gives those of the prompt as well
			p.fail(llm.Invalid("echo", "unsupported_value", "Invalid 'echo': it is not supported together with 'logprobs'."))
		}
	}
	return p.result()
}

// prompt reads a string, or a list of them.
func (p *parser) prompt() {
	const name = "prompt"
	value := p.value(name)
	switch {
	case value == nil:
		p.fail(missing(name))
	case value[0] == '[':
		p.prompts(value)
	default:
		text, ok := jsonscan.Unquote(value)
		if !ok {
			p.fail(wrongType(name, "a string or an array of strings", value))
		}
		p.req.Prompt = llm.Prompt{{Text: text}}
	}
}

// prompts reads a list, each of which gets its n choices.
func (p *parser) prompts(array []byte) {
	const name = "prompt"
	var all []llm.Prompt
	for element := range jsonscan.Elements(array) {
		if isNumber(element) || element[0] == '[' {
			p.fail(llm.Invalid(name, "unsupported_value", "Invalid 'prompt': token ids are not supported. Send the prompt as a string."))
			return
		}
		text, ok := jsonscan.Unquote(element)
		if !ok {
			p.fail(wrongType(name, "a string or an array of strings", element))
			return
		}
		if all = append(all, llm.Prompt{{Text: text}}); len(all)*p.req.N > maxChoices {
			p.fail(llm.Invalid(name, "invalid_value", "Invalid 'prompt': prompts times 'n' must not be more than %d.", maxChoices))
			return
		}
	}
	if len(all) == 0 {
		p.fail(llm.Invalid(name, "empty_array", "Invalid 'prompt': empty array. Expected a string or an array of strings."))
		return
	}
	p.req.Prompt = all[0]
	if len(all) > 1 {
		p.req.Prompts = all
	}
}

// echo returns what each choice of the answer begins with.
func (p *parser) echo() []string {
	prompts := p.req.Prompts
	if prompts == nil {
		prompts = []llm.Prompt{p.req.Prompt}
	}
	var all []string
	for _, prompt := range prompts {
		all = append(all, slices.Repeat([]string{prompt.Text()}, p.req.N)...)
	}
	return all
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
