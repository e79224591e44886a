package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"dragoman/adapters/llm"
	"dragoman/gateway/sse"
)

// upload is how far the reading of a request's body has come.
type upload struct {
	read   int64
	begun  time.Time
	ended  bool // the body was read to its end
	failed bool // the rest of the connection's bytes means nothing any more
}

// tooLargeMark stands in the header of a request whose body is over the limit.
// No client can send it: fasthttp refuses names with a NUL.
const tooLargeMark = "\x00too-large"

// beforeBody is fasthttp's hook between header and body. fasthttp waits for the
// first byte of a body before it calls the handler: with HeaderTimeout, were it
// not for this. A body that is too large is not waited for: it is taken off
// the request, whose connection ends with the reply.
func (s *Server) beforeBody(h *fasthttp.RequestHeader) fasthttp.RequestConfig {
	if int64(h.ContentLength()) > s.o.BodyLimit {
		h.Set(tooLargeMark, "1")
		h.SetContentLength(0)
		h.Del("Expect")
	}
	return fasthttp.RequestConfig{ReadTimeout: s.o.BodyTimeout}
}

// tooLarge reports whether beforeBody took the body off the request.
func (r *request) tooLarge() bool { return len(r.ctx.Request.Header.Peek(tooLargeMark)) > 0 }

// readBody returns the request's body in memory of its own. What is too large,
// too slow, encoded or broken is an *llm.Error; a client that left is ErrGone.
func (r *request) readBody() ([]byte, error) {
	h := &r.ctx.Request.Header
	if coding := strings.TrimSpace(string(h.Peek("Content-Encoding"))); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, refusal(http.StatusUnsupportedMediaType, "unsupported_encoding",
			"content-encoding %.40q is not supported; send the body as it is", coding)
	}
	limit, size := r.s.o.BodyLimit, int64(h.ContentLength()) // negative: not said
	if r.tooLarge() {
		return nil, tooLarge(limit)
	}
	body := make([]byte, 0, max(512, min(size+1, 64<<10))) // no more than arrives is worth
	for {
		if len(body) == cap(body) {
			body = slices.Grow(body, len(body))
		}
		n, err := r.readSome(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case int64(len(body)) > limit:
			return nil, tooLarge(limit)
		case err == io.EOF && int64(len(body)) < size:
			r.upload.failed = true
			return nil, fmt.Errorf("%w in the middle of its request", sse.ErrGone)
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, uploadError(err)
		}
	}
}

func tooLarge(limit int64) *llm.Error {
	return refusal(http.StatusRequestEntityTooLarge, "request_too_large", "the request's body is larger than %d bytes", limit)
}

func uploadError(err error) error {
	switch {
	case isTimeout(err):
		return refusal(http.StatusRequestTimeout, "timeout", "the request's body did not arrive in time")
	case hungUp(err):
		return fmt.Errorf("%w in the middle of its request: %w", sse.ErrGone, err)
	}
	bad := refusal(http.StatusBadRequest, "bad_request", "the request's body is not properly chunked")
	bad.Err = wordless(err)
	return bad
}

// readSome reads from the body within its time: BodyTimeout, and more for what
// has arrived, so that a large body may take long and a trickle may not.
func (r *request) readSome(p []byte) (int, error) {
	u := &r.upload
	if u.begun.IsZero() {
		u.begun = time.Now()
	}
	earned := time.Duration(u.read) * time.Second / bodyMinRate
	return r.readUntil(u.begun.Add(r.s.o.BodyTimeout+earned), p)
}

func (r *request) readUntil(deadline time.Time, p []byte) (int, error) {
	body, u := r.ctx.RequestBodyStream(), &r.upload
	if body == nil {
		return 0, io.EOF
	}
	if err := r.ctx.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	n, err := body.Read(p)
	u.read += int64(n)
	u.ended = u.ended || err == io.EOF
	u.failed = u.failed || err != nil && err != io.EOF
	return n, err
}

// discardBody reads what the handler left of the body, so that it is not taken
// for the next request. It returns false if that is more than it is worth.
func (r *request) discardBody() bool {
	if r.upload.failed || r.tooLarge() || int64(r.ctx.Request.Header.ContentLength())-r.upload.read > drainAtMost {
		return false
	}
	if r.upload.ended || r.ctx.RequestBodyStream() == nil {
		return true
	}
	deadline := time.Now().Add(min(drainFor, r.s.o.BodyTimeout))
	buf := make([]byte, 16<<10)
	for left := drainAtMost; left > 0; {
		n, err := r.readUntil(deadline, buf)
		if err != nil {
			return err == io.EOF
		}
		left -= n
	}
	return false
}

func isTimeout(err error) bool {
	var timed net.Error
	return errors.As(err, &timed) && timed.Timeout()
}
