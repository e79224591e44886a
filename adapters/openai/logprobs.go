package openai

import (
	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// readLogprobs reads the logprobs of a choice: a list of tokens in chat, four
// lists beside each other in completions.
func readLogprobs(object []byte) []llm.Logprob {
	var all []llm.Logprob
	var tokens, values, tops []byte
	for name, value := range jsonscan.All(object) {
		switch string(name) {
		case "content", "refusal":
			for one := range jsonscan.Elements(value) {
				all = append(all, readToken(one))
			}
		case "tokens":
			tokens = value
		case "token_logprobs":
			values = value
		case "top_logprobs":
			tops = value
		}
	}
	for token := range jsonscan.Elements(tokens) {
		all = append(all, llm.Logprob{Token: jsonscan.AppendUnquoted(nil, token)})
	}
	if tokens == nil {
		return all
	}
	i := 0
	for value := range jsonscan.Elements(values) {
		if i < len(all) {
			all[i].Logprob = adapters.Float(value)
		}
		i++
	}
	i = 0
	for top := range jsonscan.Elements(tops) {
		if i < len(all) {
			for name, value := range jsonscan.All(top) {
				all[i].Top = append(all[i].Top, llm.TopLogprob{Token: append([]byte(nil), name...), Logprob: adapters.Float(value)})
			}
		}
		i++
	}
	return all
}

// readToken reads a token of a chat. Its bytes say what its text cannot.
func readToken(object []byte) llm.Logprob {
	var t llm.Logprob
	var exact []byte
	for name, value := range jsonscan.All(object) {
		switch string(name) {
		case "token":
			t.Token = jsonscan.AppendUnquoted(nil, value)
		case "logprob":
			t.Logprob = adapters.Float(value)
		case "bytes":
			for b := range jsonscan.Elements(value) {
				exact = append(exact, byte(adapters.Int(b)))
			}
		case "top_logprobs":
			for one := range jsonscan.Elements(value) {
				top := readToken(one)
				t.Top = append(t.Top, llm.TopLogprob{Token: top.Token, Logprob: top.Logprob})
			}
		}
	}
	if exact != nil {
		t.Token = exact
	}
	return t
}
