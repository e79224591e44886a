package openai

import (
	"fmt"
	"math"
	"strconv"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

const maxChecks = 256 // of one request: each is a question to a backend

// TokenCheck asks how many tokens a prompt is, and whether an answer of MaxTokens
// fits beside it. It is no part of OpenAI's API, but of FastChat's.
type TokenCheck struct {
	Model, Prompt string
	MaxTokens     int64
}

// TokenCount answers a TokenCheck. Context is how many tokens prompt and answer
// may have together.
type TokenCount struct {
	Tokens, Context int
	Fits            bool
}

// ParseTokenCheck reads the body of a token check. Every error is an *llm.Error
// with status 400.
func ParseTokenCheck(body []byte) ([]TokenCheck, error) {
	const name = "prompts"
	p, err := newParser(llm.Completion, body)
	if err != nil {
		return nil, err
	}
	list := p.array(name, "objects")
	if list == nil {
		p.fail(missing(name))
		return nil, p.err
	}
	var checks []TokenCheck
	for element := range jsonscan.Elements(list) {
		if len(checks) == maxChecks {
			return nil, llm.Invalid(name, "invalid_value", "Invalid '%s': array too long. Expected an array with maximum length %d.", name, maxChecks)
		}
		check, err := tokenCheck(fmt.Sprintf("%s[%d]", name, len(checks)), element)
		if err != nil {
			return nil, err
		}
		checks = append(checks, check)
	}
	return checks, nil
}

func tokenCheck(path string, value []byte) (TokenCheck, error) {
	var c TokenCheck
	if value[0] != '{' {
		return c, wrongType(path, "an object", value)
	}
	var model, prompt, limit []byte
	err := each(path, value, func(name, value []byte) error {
		switch string(name) {
		case "model":
			model = present(value)
		case "prompt":
			prompt = present(value)
		case "max_tokens":
			limit = present(value)
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	if c.Model, err = requiredText(path+".model", model); err != nil {
		return c, err
	}
	if c.Prompt, err = requiredText(path+".prompt", prompt); err != nil {
		return c, err
	}
	at := path + ".max_tokens"
	if limit == nil {
		return c, missing(at)
	}
	c.MaxTokens, err = parseInteger(limit)
	switch {
	case err == errNotInteger:
		return c, wrongType(at, "an integer", limit)
	case err != nil && limit[0] == '-', err == nil && c.MaxTokens < 0:
		return c, outOfRange(at, "integer", "below minimum", ">= 0", limit)
	case err != nil, c.MaxTokens > math.MaxInt32:
		return c, outOfRange(at, "integer", "above maximum", "<= 2147483647", limit)
	}
	return c, nil
}

// AppendTokenCounts appends the answer to a token check, in FastChat's form.
func AppendTokenCounts(dst []byte, counts []TokenCount) []byte {
	dst = append(dst, `{"prompts":[`...)
	for i, c := range counts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendBool(append(dst, `{"fits":`...), c.Fits)
		dst = appendCount(dst, `,"tokenCount":`, c.Tokens)
		dst = append(appendCount(dst, `,"contextLength":`, c.Context), '}')
	}
	return append(dst, "]}"...)
}
