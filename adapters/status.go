package adapters

import (
	"fmt"
	"net/http"
	"strings"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Failure returns what the client shall see when a backend fails with an HTTP
// status, or with a code in a frame that means one. message is the backend's own.
//
//	400, 413, 422            400 invalid_request_error: the request itself is at fault;
//	                         context_length_exceeded if the message says that
//	401, 403; 404            502 upstream_auth; 502 upstream_not_found: the gateway is
//	429; 503, 529; 408, 504  429; 503; 504
//	any other                502
func Failure(status int, message string) *llm.Error {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		if saysTooLong(message) {
			return ContextLength(message)
		}
		return llm.Invalid("", "", "%s", message)
	case http.StatusUnauthorized, http.StatusForbidden:
		// What a backend says here may hold a part of the key.
		return llm.Upstream(http.StatusBadGateway, "upstream_auth", "The backend refused the gateway's credentials.")
	case http.StatusNotFound:
		return llm.Upstream(http.StatusBadGateway, "upstream_not_found", "%s", message)
	case http.StatusTooManyRequests:
		return llm.Upstream(http.StatusTooManyRequests, "", "%s", message)
	case http.StatusServiceUnavailable, 529:
		return llm.Upstream(http.StatusServiceUnavailable, "", "%s", message)
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return llm.Upstream(http.StatusGatewayTimeout, "", "%s", message)
	}
	return llm.Upstream(http.StatusBadGateway, "", "%s", message)
}

const codeTooLong = "context_length_exceeded"

// ContextLength returns the error of a request that is longer than the model's
// context, which clients know by its code.
func ContextLength(message string) *llm.Error {
	return llm.Invalid("messages", codeTooLong, "%s", message)
}

// saysTooLong reports whether an error text means that the prompt does not fit
// the model's context: OpenAI and vLLM, llama.cpp, Ollama, TGI.
func saysTooLong(text string) bool {
	text = strings.ToLower(text)
	for _, words := range []string{
		"maximum context length", "context length exceeded", "exceeds the available context size",
		"exceeds the context window", "longer than the model's context length",
		"exceeds the maximum context", "exceeds the context length", "prompt is too long", "tokens + `max_new_tokens`",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// maxDepth bounds the nesting of JSON in frames; no protocol comes near it.
const maxDepth = 128

// CheckJSON returns nil if data is one JSON value that is safe to look into.
// Otherwise its *llm.Error quotes the beginning of data, as backends often say
// in plain words what broke them.
func CheckJSON(data []byte) error {
	err := jsonscan.Valid(data, maxDepth)
	if err == nil {
		return nil
	}
	e := llm.Upstream(http.StatusBadGateway, "", "The backend sent what is not its protocol: %s", Clip(data, 200))
	e.Err = fmt.Errorf("frame: %w", err)
	return e
}
