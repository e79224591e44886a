package server

import (
	"context"
	"log/slog"
	"time"

	"dragoman/adapters/llm"
)

// accessLine is what the access log says about a request: never its content,
// and nothing a key could be in.
type accessLine struct {
	id, method, path string
	status           int
	model, backend   string // the client's name for it, and the configuration's
	stream           bool
	first            time.Duration // until the backend's first event; 0 if none came
	bytes            int64         // of the reply's body
	finish           llm.Finish
	err              error
}

func (l *accessLine) write(log *slog.Logger, took time.Duration) {
	attrs := make([]slog.Attr, 0, 12)
	attrs = append(attrs,
		slog.String("id", l.id), slog.String("method", l.method), slog.String("path", bounded(l.path)),
		slog.Int("status", l.status), slog.Duration("duration", took), slog.Int64("bytes", l.bytes))
	if l.model != "" {
		attrs = append(attrs, slog.String("model", bounded(l.model)), slog.String("backend", l.backend), slog.Bool("stream", l.stream))
	}
	if l.first != 0 {
		attrs = append(attrs, slog.Duration("ttft", l.first))
	}
	if l.finish != "" {
		attrs = append(attrs, slog.String("finish", string(l.finish)))
	}
	if l.err != nil {
		attrs = append(attrs, slog.String("error", formatBounded("%v", l.err)))
	}
	log.LogAttrs(context.Background(), slog.LevelInfo, "request", attrs...)
}

func bounded(s string) string { return s[:min(len(s), 200)] }
