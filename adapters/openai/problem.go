package openai

import (
	"net/http"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// problem is an error as backends word it.
type problem struct {
	message    string
	kind, code string // code is "" where it was a number
	status     int    // 0 where no number said
}

// reported reads the error that object is or has: {"error":{"message":...}},
// {"object":"error","message":...}.
func reported(object []byte) problem {
	for name, value := range jsonscan.All(object) {
		if string(name) == "error" && !adapters.IsNull(value) {
			return readProblem(value)
		}
	}
	return readProblem(object)
}

// readProblem reads an error object, or the text that some send instead.
func readProblem(value []byte) problem {
	p := problem{message: adapters.Text(value)}
	for name, v := range jsonscan.All(value) {
		switch string(name) {
		case "message":
			p.message = adapters.Text(v)
		case "text": // FastChat's own API server
			if p.message == "" {
				p.message = adapters.Text(v)
			}
		case "type":
			p.kind = adapters.Text(v)
		case "code", "status", "http_status_code":
			if n := adapters.Int(v); n >= 400 && n < 600 {
				p.status = n
			} else if string(name) == "code" {
				p.code = adapters.Text(v)
			}
		}
	}
	return p
}

// statusOf are the statuses of errors that come without a number, by type or
// code.
var statusOf = map[string]int{
	"invalid_request_error": http.StatusBadRequest, "BadRequestError": http.StatusBadRequest,
	"authentication_error": http.StatusUnauthorized, "permission_error": http.StatusForbidden,
	"not_found_error": http.StatusNotFound, "NotFoundError": http.StatusNotFound,
	"rate_limit_error": http.StatusTooManyRequests, "rate_limit_exceeded": http.StatusTooManyRequests,
	"insufficient_quota": http.StatusTooManyRequests,
	"overloaded_error":   http.StatusServiceUnavailable, "service_unavailable": http.StatusServiceUnavailable,
}

func (p problem) failure() *llm.Error {
	if p.message == "" {
		p.message = "The backend reported an error without saying which."
	}
	if p.contextLength() {
		return adapters.ContextLength(p.message)
	}
	if p.status == 0 {
		p.status = statusOf[p.code]
	}
	if p.status == 0 {
		p.status = statusOf[p.kind]
	}
	e := adapters.Failure(p.status, p.message)
	if e.Status == http.StatusBadRequest {
		e.Code = p.code
	}
	return e
}

// contextLength reports whether the prompt was too long: clients that trim
// their history look for that one code.
func (p problem) contextLength() bool {
	if p.status != 0 && p.status != http.StatusBadRequest {
		return false
	}
	return p.code == "context_length_exceeded" || p.kind == "exceed_context_size_error" ||
		strings.Contains(p.message, "maximum context length")
}
