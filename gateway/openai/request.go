package openai

import (
	"strings"
	"unicode/utf8"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

const (
	maxDepth     = 128  // levels of arrays and objects in a request
	maxModelName = 1024 // bytes
)

// Ask is a client's request, and how the client wants the answer.
type Ask struct {
	Request      llm.Request
	Kind         llm.Kind // of the answer: a chat's, too, where the request is a bare prompt
	Model        string   // the name that the client used, and shall see in the answer
	Stream       bool
	IncludeUsage bool     // a stream shall end with a usage chunk
	OffersTools  bool     // the answer may be a tool call
	Echo         []string // what a completion's choices begin with: their prompts; nil is nothing
}

// ParseChat reads the body of a chat completions request. Every error is an
// *llm.Error with status 400. The Ask refers to body, which must not change. Where
// messages are one text, the Request is a completion of it.
func ParseChat(body []byte) (*Ask, error) {
	p, err := newParser(llm.Chat, body)
	if err != nil {
		return nil, err
	}
	p.common()
	p.messages()
	p.chatMaxTokens()
	p.chatLogprobs()
	p.responseFormat()
	p.offers()
	p.audio()
	return p.result()
}

// parser holds one request while it is read. The first error sticks, and what
// is read after it does not matter.
type parser struct {
	ask Ask
	req *llm.Request // &ask.Request
	err error
}

func newParser(kind llm.Kind, body []byte) (*parser, error) {
	if len(body) == 0 {
		return nil, notJSON("the body is empty")
	}
	if !utf8.Valid(body) {
		return nil, notJSON("the body is not valid UTF-8")
	}
	members, err := jsonscan.Members(body, maxDepth)
	if err != nil {
		if said := badObject("", err); said != err {
			return nil, said
		}
		return nil, notJSON(err.Error())
	}
	p := &parser{}
	p.ask.Kind, p.req = kind, &p.ask.Request
	*p.req = llm.Request{Kind: kind, N: 1, Raw: body, Members: members}
	return p, nil
}

func (p *parser) result() (*Ask, error) {
	if p.err != nil {
		return nil, p.err
	}
	return &p.ask, nil
}

func (p *parser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// need notes that the answer is wrong unless the backend can do field. The
// first place that needs it is reason enough.
func (p *parser) need(field, path string) {
	for _, n := range p.req.Needs {
		if n.Field == field {
			return
		}
	}
	p.req.Needs = append(p.req.Needs, llm.Need{Field: field, Path: path})
}

// value returns the JSON text of a top-level member. Clients write null for
// what they leave out: that is nil too. Names match in their exact case.
func (p *parser) value(name string) []byte {
	for _, m := range p.req.Members {
		if m.Name == name {
			return present(p.req.Raw[m.Start:m.End])
		}
	}
	return nil
}

// present returns nil for null, else value.
func present(value []byte) []byte {
	if string(value) == "null" {
		return nil
	}
	return value
}

// common reads what both endpoints have.
func (p *parser) common() {
	p.model()
	p.ask.Stream = p.streamFlag()
	p.req.Stream = p.ask.Stream
	if p.ask.Stream {
		p.streamOptions()
	}
	p.choices()
	p.stop()
	p.params()
}

func (p *parser) model() {
	name := p.text("model")
	switch {
	case p.err != nil:
	case name == "":
		p.fail(missing("model"))
	case len(name) > maxModelName:
		p.fail(llm.Invalid("model", "invalid_value", "Invalid 'model': the name is longer than %d bytes.", maxModelName))
	}
	p.ask.Model, p.req.Model = name, name
}

// streamFlag also takes the strings "true" and "false" in any case: torchchat's
// documentation tells its users to send those.
func (p *parser) streamFlag() bool {
	value := p.value("stream")
	if text, ok := jsonscan.Unquote(value); ok {
		switch {
		case strings.EqualFold(text, "true"):
			return true
		case strings.EqualFold(text, "false"):
			return false
		}
	}
	return p.boolean("stream")
}

func (p *parser) streamOptions() {
	value := p.object("stream_options")
	if value == nil {
		return
	}
	p.each("stream_options", value, func(name, value []byte) error {
		if string(name) != "include_usage" || present(value) == nil {
			return nil
		}
		on, ok := boolean(value)
		if !ok {
			return wrongType("stream_options.include_usage", "a boolean", value)
		}
		p.ask.IncludeUsage = on
		return nil
	})
}

// choices reads n. Only more than one choice asks something of the backend.
func (p *parser) choices() {
	n, ok := p.integer("n", 1, maxChoices)
	if !ok {
		return
	}
	p.req.N = int(n)
	if n > 1 {
		p.need("n", "n")
	}
}
