package openai

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

const (
	maxInputs     = 2048 // of one request for embeddings
	maxDimensions = 1 << 20
)

// EmbedAsk is a client's request for embeddings, and how the client wants them.
type EmbedAsk struct {
	Request llm.EmbedRequest
	Model   string // the name that the client used, and shall see in the answer
	Base64  bool   // each embedding shall be the base64 of its numbers
}

// ParseEmbeddings reads the body of an embeddings request. Every error is an
// *llm.Error with status 400. The EmbedAsk refers to body, which must not change.
func ParseEmbeddings(body []byte) (*EmbedAsk, error) {
	p, err := newParser(llm.Completion, body)
	if err != nil {
		return nil, err
	}
	p.model()
	ask := &EmbedAsk{Model: p.ask.Model}
	ask.Request = llm.EmbedRequest{Model: p.ask.Model, Raw: body, Members: p.req.Members}
	p.input(&ask.Request)
	switch form := p.text("encoding_format"); form {
	case "", "float":
	case "base64":
		ask.Base64 = true
	default:
		p.fail(badWord("encoding_format", "invalid_value", form, "float", "base64"))
	}
	n, _ := p.integer("dimensions", 1, maxDimensions)
	ask.Request.Dimensions = int(n)
	p.text("user")
	return ask, p.err
}

// input reads what is to be embedded: a text, token ids, or a list of either.
func (p *parser) input(r *llm.EmbedRequest) {
	const name = "input"
	value := p.value(name)
	if text, ok := jsonscan.Unquote(value); ok {
		r.N, r.Texts = 1, []string{text}
		if text == "" {
			p.fail(emptyInput(name))
		}
		return
	}
	if value == nil {
		p.fail(missing(name))
		return
	}
	if value[0] != '[' {
		p.fail(wrongInput(name, value))
		return
	}
	kind := byte(0) // of the elements: a string, a list or a number
	for element := range jsonscan.Elements(value) {
		path := name + "[" + strconv.Itoa(r.N) + "]"
		first := element[0]
		if isNumber(element) {
			first = '0'
		}
		if kind == 0 {
			kind = first
		}
		if err := p.inputElement(r, path, element, first == kind); err != nil {
			p.fail(err)
			return
		}
		if r.N++; r.N > maxInputs && kind != '0' {
			p.fail(llm.Invalid(name, "invalid_value", "Invalid 'input': array too long. Expected an array with maximum length %d.", maxInputs))
			return
		}
	}
	switch kind {
	case 0:
		p.fail(llm.Invalid(name, "empty_array", "Invalid 'input': empty array. Expected a string or an array of strings."))
	case '0':
		r.N, r.Tokens = 1, value
	case '[':
		r.Tokens = value
	}
}

// inputElement reads an element of the list of inputs, which is like the others or
// not.
func (p *parser) inputElement(r *llm.EmbedRequest, path string, element []byte, alike bool) error {
	text, isText := jsonscan.Unquote(element)
	switch {
	case !alike:
		return wrongInput(path, element)
	case isText && text == "":
		return emptyInput(path)
	case isText:
		r.Texts = append(r.Texts, text)
		return nil
	case element[0] != '[':
		return tokenID(path, element)
	}
	n := 0
	for id := range jsonscan.Elements(element) {
		if err := tokenID(path+"["+strconv.Itoa(n)+"]", id); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return emptyInput(path)
	}
	return nil
}

func tokenID(path string, value []byte) error {
	if !isNumber(value) {
		return wrongInput(path, value)
	}
	if id, err := parseInteger(value); err != nil || id < 0 || id > math.MaxInt32 {
		return llm.Invalid(path, "invalid_value", "Invalid '%s': expected a token id, which is an integer >= 0.", path)
	}
	return nil
}

func emptyInput(path string) error {
	return llm.Invalid(path, "invalid_value", "Invalid '%s': an input must not be empty.", path)
}

func wrongInput(path string, value []byte) error {
	return wrongType(path, "a string, an array of strings, or token ids", value)
}

// AppendEmbeddings appends the answer to ask.
func AppendEmbeddings(dst []byte, ask *EmbedAsk, made *llm.Embeddings) []byte {
	dst = append(dst, `{"object":"list","data":[`...)
	for i, v := range made.Vectors {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"object":"embedding","index":`...)
		dst = strconv.AppendInt(dst, int64(i), 10)
		dst = append(dst, `,"embedding":`...)
		if ask.Base64 {
			dst = appendVectorBase64(dst, v)
		} else {
			dst = appendVector(dst, v)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"model":`...)
	dst = appendString(dst, ask.Model)
	n := min(made.PromptTokens, maxCount)
	dst = appendCount(dst, `,"usage":{"prompt_tokens":`, n)
	dst = appendCount(dst, `,"total_tokens":`, n)
	if made.Estimated {
		dst = append(dst, `,"estimated":true`...)
	}
	return append(dst, "}}"...)
}

// appendVector writes each number as the shortest that reads back the same.
func appendVector(dst []byte, v []float32) []byte {
	dst = append(dst, '[')
	for i, x := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendFloat(dst, float64(x), 'g', -1, 32)
	}
	return append(dst, ']')
}

func appendVectorBase64(dst []byte, v []float32) []byte {
	data := make([]byte, 0, 4*len(v))
	for _, x := range v {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, data)
	return append(dst, '"')
}
