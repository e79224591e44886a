package openai

import (
	"math"
	"strconv"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

const (
	maxChoices       = 128
	maxStops         = 4
	maxTopLogprobs   = 20
	maxBias          = 100
	maxLogprobs      = 5 // of a completion
	maxBestOf        = 20
	completionTokens = 16 // what a completion that does not say gets, as at OpenAI
)

var decimals = [...]struct {
	param     llm.Param
	low, high float64
}{
	{llm.Temperature, 0, 2},
	{llm.TopP, 0, 1},
	{llm.FrequencyPenalty, -2, 2},
	{llm.PresencePenalty, -2, 2},
	{llm.MinP, 0, 1},
	{llm.RepetitionPenalty, 0, math.MaxFloat32},
}

var integers = [...]struct {
	param     llm.Param
	low, high int64
}{
	{llm.Seed, math.MinInt64, math.MaxInt64},
	{llm.TopK, -1, math.MaxInt32}, // 0 and -1 both are in use for "off"
	{llm.MinTokens, 0, math.MaxInt32},
}

// params reads the sampling settings. Decimals keep the client's spelling.
func (p *parser) params() {
	for _, d := range decimals {
		name := d.param.String()
		x, ok := p.decimal(name, d.low, d.high)
		if !ok {
			continue
		}
		p.req.Params[d.param] = string(p.value(name))
		if x != 0 && (d.param == llm.FrequencyPenalty || d.param == llm.PresencePenalty) {
			p.need(name, name)
		}
	}
	for _, d := range integers {
		if n, ok := p.integer(d.param.String(), d.low, d.high); ok {
			p.req.Params[d.param] = strconv.FormatInt(n, 10)
		}
	}
	p.stopTokenIDs()
	p.logitBias()
}

func (p *parser) stopTokenIDs() {
	const name = "stop_token_ids"
	value := p.array(name, "integers")
	if value == nil {
		return
	}
	ids := []byte{'['}
	for element := range jsonscan.Elements(value) {
		id, err := parseInteger(element)
		if err != nil || id < 0 || id > math.MaxInt32 {
			p.fail(llm.Invalid(name, "invalid_value", "Invalid '%s': expected token ids, which are integers >= 0, but got %s.", name, typeName(element)))
			return
		}
		if len(ids) > 1 {
			ids = append(ids, ',')
		}
		ids = strconv.AppendInt(ids, id, 10)
	}
	if len(ids) > 1 {
		p.req.Params[llm.StopTokenIDs] = string(append(ids, ']'))
	}
}

func (p *parser) logitBias() {
	const name = "logit_bias"
	value := p.object(name)
	if value == nil {
		return
	}
	empty := true
	p.each(name, value, func(key, bias []byte) error {
		empty = false
		if _, err := strconv.ParseUint(string(key), 10, 32); err != nil {
			return llm.Invalid(name, "invalid_value", "Invalid key in '%s': %s. Keys are token ids, in digits.", name, Quote(string(key)))
		}
		x, ok := parseDecimal(bias)
		if !ok {
			return wrongType(name+"."+string(key), "a number", bias)
		}
		if math.Abs(x) > maxBias {
			return llm.Invalid(name+"."+string(key), "invalid_value", "Invalid '%s': a bias is a number from -%d to %d.", name, maxBias, maxBias)
		}
		return nil
	})
	if !empty {
		p.req.Params[llm.LogitBias] = string(value)
		p.need(name, name)
	}
}

// stop reads a string, a list of strings, or null. An empty string alone means
// none, as several clients send it; in a list it is a mistake.
func (p *parser) stop() {
	const name = "stop"
	value := p.value(name)
	if value == nil {
		return
	}
	if text, ok := jsonscan.Unquote(value); ok {
		if text != "" {
			p.req.Stop = []string{text}
		}
		return
	}
	if value[0] != '[' {
		p.fail(wrongType(name, "a string or an array of strings", value))
		return
	}
	n := 0
	for element := range jsonscan.Elements(value) {
		text, ok := jsonscan.Unquote(element)
		path := name + "[" + strconv.Itoa(n) + "]"
		switch {
		case !ok:
			p.fail(wrongType(path, "a string", element))
			return
		case text == "":
			p.fail(llm.Invalid(path, "invalid_value", "Invalid '%s': an empty string cannot stop anything.", path))
			return
		case n == maxStops:
			p.fail(llm.Invalid(name, "invalid_value", "Invalid '%s': array too long. Expected an array with maximum length %d.", name, maxStops))
			return
		}
		p.req.Stop = append(p.req.Stop, text)
		n++
	}
}

// chatMaxTokens prefers the newer name; what the older one says is then not
// looked at.
func (p *parser) chatMaxTokens() {
	name := "max_completion_tokens"
	if p.value(name) == nil {
		name = "max_tokens"
	}
	p.req.MaxTokens = p.maxTokens(name)
}

// maxTokens takes -1 for "no limit", as LM Studio and llama.cpp do.
func (p *parser) maxTokens(name string) int64 {
	n, ok := p.integer(name, -1, math.MaxInt64)
	switch {
	case !ok:
		return 0
	case n == -1:
		return llm.NoLimit
	case n == 0:
		p.fail(outOfRange(name, "integer", "below minimum", ">= 1, or -1 for no limit", p.value(name)))
	}
	return n
}

func (p *parser) chatLogprobs() {
	on := p.boolean("logprobs")
	n, _ := p.integer("top_logprobs", 0, maxTopLogprobs)
	switch {
	case on:
		p.logprobs(n)
	case n > 0:
		p.fail(llm.Invalid("top_logprobs", "invalid_value", "Invalid 'top_logprobs': it requires 'logprobs' to be true."))
	}
}

// logprobs notes that the answer's tokens shall come with their probabilities,
// and with the top likeliest ones.
func (p *parser) logprobs(top int64) {
	p.req.Logprobs, p.req.TopLogprobs = true, int(top)
	p.need("logprobs", "logprobs")
}
