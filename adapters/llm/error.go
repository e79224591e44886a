package llm

import (
	"fmt"
	"net/http"
)

// Error is a failure in the words the client shall see. Everything in it but
// Err is sent to the client, so it holds no secret and no backend address.
type Error struct {
	Status     int    // HTTP status
	Type       string // invalid_request_error or server_error
	Code       string // "" is JSON null
	Param      string // the request's field at fault; "" is JSON null
	Message    string
	RetryAfter string // the backend's Retry-After, passed on; "" if none
	Err        error  // the cause, for the log alone
}

// Error returns the client's message, followed by the cause if there is one.
func (e *Error) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Message, e.Err)
	}
	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Invalid returns the error of a bad request: status 400, the field at fault
// and OpenAI's code, such as invalid_type, invalid_value, unsupported_parameter.
func Invalid(param, code, format string, args ...any) *Error {
	return &Error{
		Status: http.StatusBadRequest, Type: "invalid_request_error",
		Code: code, Param: param, Message: fmt.Sprintf(format, args...),
	}
}

// Upstream returns the error of a backend that failed, with OpenAI's type
// server_error. code "" becomes upstream_error.
func Upstream(status int, code, format string, args ...any) *Error {
	if code == "" {
		code = "upstream_error"
	}
	return &Error{Status: status, Type: "server_error", Code: code, Message: fmt.Sprintf(format, args...)}
}
