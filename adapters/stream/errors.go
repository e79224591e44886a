package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

const maxErrorBody = 64 << 10

// statusError makes the client's error of an answer whose status is no success.
func (up *Upstream) statusError(resp *http.Response, body []byte) *llm.Error {
	return up.failure(readProblem(body), resp.StatusCode, fmt.Sprintf("status %d", resp.StatusCode), resp.Header)
}

// failure makes the client's error of what a backend said that it would not do,
// under a status that is called name: adapters.Failure says which.
func (up *Upstream) failure(said adapters.Problem, status int, name string, header http.Header) *llm.Error {
	e := said.Failure(status)
	e.Err = errors.New(name) // for the log, which does not quote messages
	switch answered := "The backend answered with " + name; {
	case e.Code == "upstream_auth": // the message is Failure's: the backend's may hold a part of the key
		e.Err = fmt.Errorf("%s: %s", name, said.Message)
	case said.Message == "":
		e.Message = answered + "."
	case e.Status != http.StatusBadRequest:
		e.Message = answered + ": " + said.Message
	}
	if e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable {
		e.RetryAfter = header.Get("Retry-After")
	}
	return up.cleanError(e)
}

// field returns the client's name of the part of a request that the backend
// calls name, see adapters.Traits.Fields.
func (s *Stream) field(name string) string {
	for theirs, ours := range s.traits.Fields {
		rest, ok := strings.CutPrefix(name, theirs)
		if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return ours + rest
		}
	}
	return name
}

// decodeError makes the client's error of a decoder's.
func (s *Stream) decodeError(err error, data []byte) error { return s.up.decodeError(err, data) }

func (up *Upstream) decodeError(err error, data []byte) error {
	var e *llm.Error
	if errors.As(err, &e) {
		return up.cleanError(e)
	}
	e = llm.Upstream(http.StatusBadGateway, "", "The backend sent something that is not understood")
	if said := readProblem(data); said.Message != "" {
		e.Message += ": " + up.clean(said.Message)
	}
	e.Err = errors.New(up.clean(err.Error()))
	return e
}

// readError makes the client's error of a transport's: the call failed or the
// answer broke off.
func (s *Stream) readError(err error) error {
	return readError(s.ctx, s.watch.phase, err)
}

// ErrUnreachable is in the chain of an error whose cause is the connection to the
// backend: it could not be made, or broke before the first event of the answer.
var ErrUnreachable = errors.New("unreachable")

// unreachable is the transport's error behind ErrUnreachable.
type unreachable struct{ error }

func (unreachable) Is(target error) bool { return target == ErrUnreachable }

func (u unreachable) Unwrap() error { return u.error }

func readError(ctx context.Context, during phase, err error) error {
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		if cause == errTimeout {
			return timedOut(during)
		}
		if !errors.Is(cause, context.DeadlineExceeded) {
			return fmt.Errorf("calling the backend: %w", cause)
		}
		err = cause
	}
	if e := (*llm.Error)(nil); errors.As(err, &e) { // a WebSocket's end or gRPC's trailers, in words
		return e
	}
	var u *url.Error
	if errors.As(err, &u) { // its text holds the URL, and that may hold a key
		err = u.Err
	}
	e := llm.Upstream(http.StatusBadGateway, "", "The connection to the backend failed.")
	e.Err = err
	var dns *net.DNSError
	var netErr net.Error
	if during == beforeFirst && isConnection(err) {
		e.Err = unreachable{err}
	}
	switch {
	case errors.Is(err, frame.ErrTooLong):
		e.Message = "The backend sent too much at once: " + err.Error()
	case errors.Is(err, frame.ErrNotPlain):
		e.Message = "The backend does not speak gRPC as it should."
	case errors.As(err, &netErr) && netErr.Timeout():
		e.Status, e.Message = http.StatusGatewayTimeout, "The backend took too long to answer."
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = "The backend refused the connection."
	case errors.As(err, &dns):
		e.Message = "The backend's host name cannot be resolved."
	case during != beforeFirst:
		e.Message = "The backend's answer broke off."
	}
	return e
}

// isConnection reports whether a transport's error is the connection's, and not
// of an answer that is too long or does not come.
func isConnection(err error) bool {
	var op *net.OpError
	var netErr net.Error
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	return !errors.Is(err, frame.ErrTooLong) && !(errors.As(err, &netErr) && netErr.Timeout())
}

func timedOut(during phase) error {
	e := llm.Upstream(http.StatusGatewayTimeout, "", "The backend stopped in the middle of its answer for too long.")
	e.Err = errTimeout
	if during == beforeFirst {
		e.Message = "The backend took too long to answer."
	}
	return e
}

// cleanError returns a copy of e that is fit for the client and the log.
func (up *Upstream) cleanError(e *llm.Error) *llm.Error {
	c := *e
	c.Message = up.clean(c.Message)
	c.Code, c.Param = up.cleanWord(c.Code), up.cleanWord(c.Param)
	if !isRetryAfter(c.RetryAfter) {
		c.RetryAfter = ""
	}
	if c.Status < 400 || c.Status > 599 {
		c.Status = http.StatusBadGateway
	}
	if c.Message == "" {
		c.Message = "The backend failed."
	}
	if c.Type == "" {
		c.Type = "server_error"
	}
	if c.Err != nil {
		c.Err = errors.New(up.clean(c.Err.Error()))
	}
	return &c
}

// cleanWord drops a code or field name that does not look like one.
func (up *Upstream) cleanWord(s string) string {
	if len(s) > 100 || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) || up.clean(s) != s {
		return ""
	}
	return s
}

// isRetryAfter reports whether s may be a Retry-After (RFC 9110, 10.2.3).
func isRetryAfter(s string) bool {
	if _, err := http.ParseTime(s); err == nil {
		return true
	}
	return len(s) < 10 && strings.Trim(s, "0123456789") == ""
}
