package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/gateway/sse"
)

// accessLine is what the access log says about a request: never its content,
// and nothing a key could be in.
type accessLine struct {
	id, method, path string
	status           int
	model, backend   string                                // the client's name for it, and the configuration's
	tell             func() (backend string, attempts int) // what the Router did; nil: nobody says
	stream           bool
	first            time.Duration // until the backend's first event; 0 if none came
	bytes            int64         // of the reply's body
	finish           llm.Finish
	err              error
}

func (l *accessLine) write(log *slog.Logger, took time.Duration) {
	attrs := make([]slog.Attr, 0, 15)
	attrs = append(attrs,
		slog.String("id", l.id), slog.String("method", l.method), slog.String("path", bounded(l.path)),
		slog.Int("status", l.status), slog.Duration("duration", took), slog.Int64("bytes", l.bytes))
	if l.model != "" {
		backend, attempts := l.backend, 1
		if l.tell != nil {
			var last string
			last, attempts = l.tell()
			backend = cmp.Or(last, backend)
		}
		attrs = append(attrs, slog.String("model", bounded(l.model)), slog.String("backend", backend), slog.Bool("stream", l.stream))
		if attempts != 1 {
			attrs = append(attrs, slog.Int("attempts", attempts))
		}
	}
	if l.first != 0 {
		attrs = append(attrs, slog.Duration("ttft", l.first))
	}
	if l.finish != "" {
		attrs = append(attrs, slog.String("finish", string(l.finish)))
	}
	if l.err != nil {
		attrs = l.appendError(attrs, log.Enabled(context.Background(), slog.LevelDebug))
	}
	log.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
	if p, ok := errors.AsType[*sse.PanicError](l.err); ok {
		log.Error("panic", "id", l.id, "value", p.Value, "stack", string(p.Stack))
	}
}

// appendError tells the kind of the error and its cause. The message to the
// client may quote what client and backend said, so it is for debugging only.
func (l *accessLine) appendError(attrs []slog.Attr, debugging bool) []slog.Attr {
	said, ok := errors.AsType[*llm.Error](l.err)
	if !ok {
		kind := "internal"
		if errors.Is(l.err, sse.ErrGone) {
			kind = "client_gone"
		}
		return append(attrs, slog.String("error", kind), slog.String("cause", formatBounded("%v", l.err)))
	}
	attrs = append(attrs, slog.String("error", cmp.Or(said.Code, said.Type)))
	if said.Err != nil {
		attrs = append(attrs, slog.String("cause", formatBounded("%v", said.Err)))
	}
	if debugging {
		attrs = append(attrs, slog.String("message", formatBounded("%s", said.Message)))
	}
	return attrs
}

// wordless is an error of fasthttp's without what it quotes: the client's own
// bytes, in which a key may be.
func wordless(err error) error {
	said, _, quotes := strings.Cut(err.Error(), `"`)
	if !quotes {
		return err
	}
	return errors.New(said + "...")
}

func bounded(s string) string { return adapters.Clip(s, 200) }
