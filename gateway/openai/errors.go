package openai

import (
	"errors"
	"net/http"

	"dragoman/adapters/llm"
)

const maxErrorMessage = 4 << 10 // bytes

// internal stands for every error that was not put into words for the client.
var internal = llm.Error{
	Status: http.StatusInternalServerError, Type: "server_error",
	Message: "The server had an error while processing your request.",
}

// Status returns the HTTP status for err: that of an *llm.Error, 500 for any
// other.
func Status(err error) int { return clientError(err).Status }

// AppendErrorBody appends the body of an error answer, OpenAI's error object. An
// error that is no *llm.Error is told in general words, as it may hold what the
// client must not see.
func AppendErrorBody(dst []byte, err error) []byte {
	e := clientError(err)
	dst = append(dst, `{"error":{"message":`...)
	dst = appendString(dst, e.Message)
	dst = append(dst, `,"type":`...)
	dst = appendString(dst, e.Type)
	dst = append(dst, `,"param":`...)
	dst = appendOrNull(dst, e.Param)
	dst = append(dst, `,"code":`...)
	dst = appendOrNull(dst, e.Code)
	return append(dst, "}}"...)
}

// clientError returns what the client sees of err, complete and bounded.
func clientError(err error) llm.Error {
	known, ok := errors.AsType[*llm.Error](err)
	if !ok || known == nil {
		return internal
	}
	e := *known
	if e.Status < 400 || e.Status > 599 {
		e.Status = internal.Status
	}
	if e.Type == "" {
		e.Type = internal.Type
		if e.Status < 500 {
			e.Type = "invalid_request_error"
		}
	}
	if e.Message == "" {
		e.Message = internal.Message
	}
	if short := shortened(e.Message, maxErrorMessage); len(short) < len(e.Message) {
		e.Message = short + "..."
	}
	return e
}

func appendOrNull(dst []byte, text string) []byte {
	if text == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, text)
}
