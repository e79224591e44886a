package serve

import (
	"encoding/json"
	"net/http"
	"time"

	"dragoman/engine/sample"
	"dragoman/engine/sched"
)

// generate answers POST /generate. The status waits for the first token, so
// that what goes wrong before it is an HTTP error.
func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	var body generateBody
	if !readBody(w, r, &body) {
		return
	}
	req, wrong := body.request(s.vocab.Size())
	if wrong != nil {
		writeError(w, *wrong)
		return
	}
	form, wrong := body.form()
	if wrong != nil {
		writeError(w, *wrong)
		return
	}
	var err error
	if req.Prompt, err = s.tokens(body.Prompt); err != nil {
		writeError(w, internal(err))
		return
	}
	if len(req.Prompt) == 0 {
		writeError(w, invalid("The prompt is empty."))
		return
	}
	if form != nil {
		if req.Filter, wrong = s.filter(form, body.After); wrong != nil {
			writeError(w, *wrong)
			return
		}
	}
	stream, err := s.runner.Submit(r.Context(), *req)
	if err != nil {
		writeError(w, refusal(err))
		return
	}
	s.relay(w, stream, req, body.Spell)
}

// relay writes a stream's tokens as they come; those that come together go
// out together. When the client leaves, the request's context ends the stream.
func (s *Server) relay(w http.ResponseWriter, stream *sched.Stream, req *sched.Request, spell []string) {
	var (
		tokens  []sample.Token
		line    []byte
		result  *sched.Result
		started bool
		rc      = http.NewResponseController(w)
	)
	for result == nil {
		if tokens, result = stream.Next(tokens[:0]); !started {
			if len(tokens) == 0 && result.Err != nil {
				writeError(w, refusal(result.Err))
				return
			}
			w.Header().Set("Content-Type", "application/x-ndjson")
			w.Header().Set("Cache-Control", "no-store")
			started = true
		}
		line = line[:0]
		for i := range tokens {
			line = s.appendToken(line, &tokens[i], req.Sampling.Logprobs, spell)
		}
		if result != nil {
			line = appendResult(line, result, len(req.Prompt))
		}
		// A client that stops reading would hold this goroutine for ever. Not
		// every connection knows deadlines; then it does.
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout))
		if _, err := w.Write(line); err != nil {
			return
		}
		if err := rc.Flush(); err != nil {
			return
		}
	}
}

// lastLine is the line that ends a whole answer.
type lastLine struct {
	Done       string  `json:"done"`
	Reason     string  `json:"reason"`
	Prompt     int     `json:"prompt_tokens"`
	Cached     int     `json:"cached_tokens,omitempty"`
	Completion int     `json:"completion_tokens"`
	Timings    timings `json:"timings"`
}

type timings struct {
	Queue  float64 `json:"queue_ms"`
	Prompt float64 `json:"prompt_ms"`
	Decode float64 `json:"decode_ms"`
}

// appendResult appends the line that ends an answer, whole or not.
func appendResult(dst []byte, r *sched.Result, promptTokens int) []byte {
	if r.Err != nil {
		return appendLine(dst, errorBody{problem{Code: "engine_error", Message: clip(r.Err.Error())}})
	}
	done := "stop"
	if r.Reason == sched.MaxTokens || r.Reason == sched.ContextFull {
		done = "length"
	}
	return appendLine(dst, lastLine{
		Done: done, Reason: string(r.Reason), Prompt: promptTokens, Cached: r.Cached, Completion: r.Completion,
		Timings: timings{Queue: ms(r.Queue), Prompt: ms(r.Prompt), Decode: ms(r.Decode)},
	})
}

// ms is a duration in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func appendLine(dst []byte, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil { // no type given here can fail
		panic("BUG: " + err.Error())
	}
	return append(append(dst, data...), '\n')
}
