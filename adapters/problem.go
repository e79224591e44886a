package adapters

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Problem is an error as a backend words it. What it does not say is "" or 0.
type Problem struct {
	Message, Type, Code, Param string
	Status                     int // an HTTP status that the words hold, from 400 to 599
	Context, Prompt            int // tokens, where the prompt does not fit the context
}

// ReadProblem reads the error that value, out of data that CheckJSON accepted,
// is or holds, in any of the shapes that servers use: {"error":{"message":...}},
// {"error":"..."}, {"message":...}, {"detail":...}, a list of these, a string.
func ReadProblem(value []byte) Problem {
	if len(value) > 0 && value[0] == '[' {
		for first := range jsonscan.Elements(value) {
			value = first
			break
		}
	}
	var p Problem
	for name, v := range jsonscan.All(value) {
		if string(name) == "error" {
			p.read(v)
		}
	}
	if p.Message == "" {
		p.read(value)
	}
	return p
}

// read takes over what value, an error object or text, says.
func (p *Problem) read(value []byte) {
	p.Message = Text(value)
	for name, v := range jsonscan.All(value) {
		switch string(name) {
		case "message":
			p.Message = cmp.Or(Text(v), p.Message)
		case "text": // FastChat's API server
			p.Message = cmp.Or(p.Message, Text(v))
		case "detail": // FastAPI
			p.Message = cmp.Or(p.Message, details(v))
		case "type":
			p.Type = Text(v)
		case "param":
			p.Param = Text(v)
		case "code", "status", "http_status_code":
			if n := Int(v); n >= 400 && n < 600 {
				p.Status = n
			} else if string(name) == "code" {
				p.Code = Text(v)
			}
		case "n_ctx":
			p.Context = Int(v)
		case "n_prompt_tokens", "prompt_tokens": // llama-server, the bundled engine
			p.Prompt = Int(v)
		}
	}
}

// details reads FastAPI's detail: a text, or a list of {"msg":...}; KoboldCpp
// writes a single one.
func details(value []byte) string {
	switch {
	case len(value) == 0:
		return ""
	case value[0] == '{':
		return msg(value)
	case value[0] != '[':
		return Text(value)
	}
	var all []string
	for item := range jsonscan.Elements(value) {
		if text := msg(item); text != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

func msg(object []byte) string {
	for name, value := range jsonscan.All(object) {
		if string(name) == "msg" {
			return Text(value)
		}
	}
	return ""
}

// statusOf are the statuses of errors that come without a number, by code or
// type.
var statusOf = map[string]int{
	"invalid_request_error": http.StatusBadRequest, "BadRequestError": http.StatusBadRequest,
	"authentication_error": http.StatusUnauthorized, "permission_error": http.StatusForbidden,
	"not_found_error": http.StatusNotFound, "NotFoundError": http.StatusNotFound,
	"rate_limit_error": http.StatusTooManyRequests, "rate_limit_exceeded": http.StatusTooManyRequests,
	"insufficient_quota": http.StatusTooManyRequests,
	"request_too_large":  http.StatusRequestEntityTooLarge, "timeout_error": http.StatusGatewayTimeout,
	"overloaded_error": http.StatusServiceUnavailable, "service_unavailable": http.StatusServiceUnavailable,
}

// Failure returns what the client shall see of p, which came with an HTTP
// status; 0 is none, for an error in a frame: then the words tell, else it
// is 502.
func (p Problem) Failure(status int) *llm.Error {
	if p.Code == codeTooLong || p.Type == "exceed_context_size_error" {
		return ContextLength(p.sized())
	}
	e := Failure(cmp.Or(status, p.Status, statusOf[p.Code], statusOf[p.Type]), p.Message)
	if e.Status == http.StatusBadRequest && e.Code == "" {
		e.Code, e.Param = p.Code, p.Param
	}
	return e
}

// sized is the message in the words by which clients find out how much they
// have to cut, if the backend gave the numbers.
func (p Problem) sized() string {
	if p.Context == 0 || strings.Contains(p.Message, "maximum context length") {
		return p.Message
	}
	s := fmt.Sprintf("This model's maximum context length is %d tokens.", p.Context)
	if p.Prompt > 0 {
		s += fmt.Sprintf(" However, your prompt has %d tokens.", p.Prompt)
	}
	return strings.TrimSpace(s + " " + p.Message)
}
