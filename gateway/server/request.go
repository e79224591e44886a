package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/valyala/fasthttp"

	"dragoman/adapters/llm"
	"dragoman/gateway/sse"
)

// request is one request under way. Its ctx is fasthttp's and must not be used
// after the handler has returned.
type request struct {
	s      *Server
	ctx    *fasthttp.RequestCtx
	id     string
	key    int // which of the keys the client sent, from 1 on
	start  time.Time
	line   accessLine
	upload upload
	// later says that somebody else writes the access line: a stream, at its end.
	later bool
}

// serve handles every request that fasthttp could read.
func (s *Server) serve(ctx *fasthttp.RequestCtx) {
	r := s.newRequest(ctx)
	defer func() {
		if p := recover(); p != nil {
			r.later = false
			r.fail(&sse.PanicError{Value: fmt.Sprintf("%.200v", p), Stack: debug.Stack()})
		}
		r.finish()
	}()
	if err := r.walk(); err != nil {
		r.fail(err)
	}
}

func (s *Server) newRequest(ctx *fasthttp.RequestCtx) *request {
	r := &request{s: s, ctx: ctx, id: requestID(ctx), start: time.Now()}
	path := cleanPath(string(ctx.Request.Header.RequestURI()))
	r.line = accessLine{id: r.id, method: string(ctx.Method()), path: path}
	return r
}

// finish makes the connection fit for what follows the reply.
func (r *request) finish() {
	if !r.discardBody() {
		r.hangUp()
	}
	r.settle()
}

// settle adds what all replies share and writes the access line.
func (r *request) settle() {
	if r.s.conns.draining() {
		r.ctx.SetConnectionClose()
	}
	r.ctx.Response.Header.Set("X-Request-Id", r.id)
	r.ctx.Response.Header.Set("Openai-Processing-Ms", milliseconds(time.Since(r.start)))
	if !r.later {
		r.line.status = r.ctx.Response.StatusCode()
		r.line.bytes = int64(len(r.ctx.Response.Body()))
		r.line.write(r.s.log, time.Since(r.start))
	}
}

// walk takes the request through the gates to its handler. An error is what the
// client shall get.
func (r *request) walk() error {
	preflight, err := r.cors()
	if err != nil || preflight {
		return err
	}
	rt, arg := match(r.line.path)
	if rt == nil || !rt.open {
		if err := r.admit(); err != nil {
			return err
		}
	}
	if rt == nil {
		return unknownURL(r.line.method, r.line.path)
	}
	if !rt.allows(r.line.method) {
		r.ctx.Response.Header.Set("Allow", rt.allow)
		return wrongMethod(r.line.method, r.line.path, rt.allow)
	}
	return rt.handle(r, arg)
}

// fail replies with err, unless the client has left.
func (r *request) fail(err error) {
	r.line.err = err
	if errors.Is(err, sse.ErrGone) {
		r.ctx.Response.SetStatusCode(statusGone)
		r.ctx.Response.ResetBody()
		r.ctx.SetConnectionClose()
		return
	}
	if r.s.base.Err() != nil {
		r.ctx.SetConnectionClose()
	}
	r.writeError(err)
}

// statusGone is what the access log says of a client that left; nobody reads it
// on the wire.
const statusGone = 499

// refuse replies to what fasthttp could not read as a request.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, err error) {
	r := s.newRequest(ctx)
	r.line.method, r.line.path = "", "" // not reliable
	var bad *llm.Error
	var small *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &small):
		bad = refusal(http.StatusRequestHeaderFieldsTooLarge, "headers_too_large", "the request's header is larger than %d bytes", readBuffer)
	case isTimeout(err):
		bad = refusal(http.StatusRequestTimeout, "timeout", "the request did not arrive in time")
	default:
		bad = refusal(http.StatusBadRequest, "bad_request", "this is not a readable HTTP request")
	}
	bad.Err = wordless(err)
	_, _ = r.cors()
	r.fail(bad)
	r.hangUp()
	r.later = hungUp(err) // nobody waits for an answer, nothing was asked: no line
	r.settle()
}

// hangUp ends the connection after the reply, which the client may read even if
// it is still sending.
func (r *request) hangUp() {
	r.ctx.SetConnectionClose()
	if c, ok := r.ctx.Conn().(*conn); ok {
		c.linger.Store(true)
	}
}

// hungUp reports whether err says that the client closed the connection.
func hungUp(err error) bool {
	var broken net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken) && !broken.Timeout()
}

func refusal(status int, code, format string, args ...any) *llm.Error {
	return &llm.Error{Status: status, Type: "invalid_request_error", Code: code, Message: fmt.Sprintf(format, args...)}
}
