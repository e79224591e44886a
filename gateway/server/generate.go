package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/openai"
	"dragoman/gateway/sse"
)

// generate answers a request for text, read by parse.
func (r *request) generate(parse func([]byte) (*openai.Ask, error)) error {
	body, err := r.readBody()
	if err != nil {
		return err
	}
	ask, err := parse(body)
	if err != nil {
		return err
	}
	r.line.model, r.line.stream = ask.Model, ask.Stream
	if r.key > 0 {
		ask.Request.Client = strconv.Itoa(r.key)
	}
	model, err := r.s.o.Router.Pick(ask.Model)
	if err != nil {
		return err
	}
	r.line.backend = model.Name()
	meta := openai.Meta{
		ID: openai.NewID(ask.Kind), Created: r.start.Unix(), Model: ask.Model, Kind: ask.Kind,
		IncludeUsage: ask.IncludeUsage, OffersTools: ask.OffersTools, Logprobs: ask.Request.Logprobs, Echo: ask.Echo,
	}
	job := r.newJob()
	if ask.Stream {
		return r.stream(job, model, ask, meta)
	}
	return r.collect(job, model, ask, meta)
}

// job is the life of one answer: it ends early when its client leaves, even
// before the first byte, and when the server stops.
type job struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	unwatch func()
}

func (r *request) newJob() *job {
	ctx, j := r.s.base, &job{}
	if auth := r.ctx.Request.Header.Peek("Authorization"); len(auth) > 0 && r.s.o.ForwardAuth != nil {
		ctx = r.s.o.ForwardAuth(ctx, string(auth))
	}
	if r.s.o.Trace != nil {
		ctx, r.line.tell = r.s.o.Trace(ctx, r.line.id)
	}
	j.ctx, j.cancel = context.WithCancelCause(ctx)
	j.unwatch = sse.Watch(r.ctx.Conn(), func() { j.cancel(sse.ErrGone) })
	return j
}

// end stops the watch over the connection, which then may be read again.
func (j *job) end() {
	j.unwatch()
	j.cancel(nil)
}

// explain names the true reason of an error that came of the job's early end.
func (j *job) explain(err error) error {
	switch cause := context.Cause(j.ctx); {
	case errors.Is(cause, sse.ErrGone):
		return sse.ErrGone
	case errors.Is(cause, errStopped):
		return &llm.Error{
			Status: http.StatusServiceUnavailable, Type: "server_error", Code: "stopping",
			Message: "the server is stopping", RetryAfter: "1", Err: err,
		}
	}
	return err
}

// collect replies with the whole answer.
func (r *request) collect(j *job, model Model, ask *openai.Ask, meta openai.Meta) error {
	defer j.end()
	src, err := model.Open(j.ctx, &ask.Request)
	if err != nil {
		return j.explain(err)
	}
	defer src.Close()
	r.line.first = time.Since(r.start)
	answer, err := stream.Collect(src, maxAnswer)
	if err != nil {
		return j.explain(err)
	}
	if len(answer.Choices) > 0 {
		r.line.finish = answer.Choices[0].Finish
	}
	r.writeJSON(http.StatusOK, openai.AppendAnswer(nil, meta, answer))
	return nil
}

// stream replies with an answer that is still being written when this returns.
func (r *request) stream(j *job, model Model, ask *openai.Ask, meta openai.Meta) error {
	line, log, start := r.line, r.s.log, r.start // r.ctx will be another's by then
	body, err := sse.Start(j.ctx, sse.Options{
		Open: func(ctx context.Context) (sse.Source, error) {
			src, err := model.Open(ctx, &ask.Request)
			if err != nil {
				return nil, err // not a nil *Stream in an interface
			}
			return src, nil
		},
		Encoder:     openai.NewChunkWriter(meta),
		CommitAfter: r.s.o.CommitAfter,
		KeepAlive:   r.s.o.KeepAlive,
		Explain:     j.explain,
		Done: func(res sse.Result) {
			j.end()
			line.status, line.bytes, line.finish, line.err = http.StatusOK, res.Bytes, res.Finish, res.Err
			if errors.Is(res.Err, sse.ErrGone) {
				line.status = statusGone
			}
			if !res.First.IsZero() {
				line.first = res.First.Sub(start)
			}
			line.write(log, time.Since(start))
		},
	})
	if err != nil {
		j.end()
		return err
	}
	r.later = true
	h := &r.ctx.Response.Header
	h.SetContentType("text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no") // nginx would collect the frames
	if r.ctx.Request.Header.IsHTTP11() {
		r.ctx.Response.SetBodyStream(body, -1)
	} else {
		r.streamUnchunked(body)
	}
	return nil
}

// streamUnchunked serves HTTP/1.0, which knows no chunks: the body ends with the
// connection. fasthttp cannot, so the connection is taken from it.
func (r *request) streamUnchunked(body *sse.Body) {
	ctx, c := r.ctx, r.ctx.Conn()
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(net.Conn) {
		defer body.Close()
		ctx.Response.Header.SetContentLength(-2) // until the end
		if _, err := c.Write(ctx.Response.Header.Header()); err == nil {
			_, _ = body.WriteTo(c)
		}
	})
}
