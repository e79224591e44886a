package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"dragoman/engine/sched"
)

// problem is an error as the protocol tells it.
type problem struct {
	Status       int    `json:"-"`
	Code         string `json:"code"`
	Message      string `json:"message"`
	Param        string `json:"param,omitempty"`
	Context      int    `json:"n_ctx,omitempty"`
	PromptTokens int    `json:"prompt_tokens,omitempty"`
}

type errorBody struct {
	Error problem `json:"error"`
}

func invalid(message string) problem {
	return problem{Status: http.StatusBadRequest, Code: "invalid_request", Message: message}
}

// wrong is the problem with a request whose member param is at fault.
func wrong(param, format string, args ...any) *problem {
	p := invalid(fmt.Sprintf(format, args...))
	p.Param = param
	return &p
}

func internal(err error) problem {
	return problem{Status: http.StatusInternalServerError, Code: "engine_error", Message: clip(err.Error())}
}

// refusal is the problem with a request of which no token was generated.
func refusal(err error) problem {
	var tooLong *sched.ContextError
	switch {
	case errors.As(err, &tooLong):
		return problem{
			Status: http.StatusBadRequest, Code: "context_length_exceeded", Message: err.Error(),
			Context: tooLong.Context, PromptTokens: tooLong.Prompt,
		}
	case errors.Is(err, sched.ErrQueueFull):
		return problem{Status: http.StatusTooManyRequests, Code: "queue_full", Message: "Too many requests are waiting. Try again later."}
	case errors.Is(err, sched.ErrStopped):
		return problem{Status: http.StatusServiceUnavailable, Code: "stopping", Message: "The engine is stopping."}
	}
	return internal(err)
}

func writeError(w http.ResponseWriter, p problem) {
	if p.Code == "queue_full" {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, p.Status, errorBody{p})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// An error here means that the client has left: there is nobody to tell.
	_ = enc.Encode(v)
}

// clip bounds text that goes into a message.
func clip(s string) string {
	const most = 300
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}
