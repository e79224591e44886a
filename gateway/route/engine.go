package route

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/config"
)

// Engine is a model process that is started when it is wanted and stopped when
// it has not been for a while. It is safe for concurrent use.
type Engine interface {
	// Acquire returns where the engine listens, host:port or unix:PATH, once it
	// answers. The engine stays until release is called. An error that is not
	// ctx's says why there is no engine, in its own last words.
	Acquire(ctx context.Context) (address string, release func(), err error)
	// Close stops the engine and waits for its end, at most until ctx ends.
	Close(ctx context.Context) error
}

// absent is the engine of a gateway that has none.
type absent struct{}

func (absent) Acquire(context.Context) (string, func(), error) {
	return "", nil, errors.New("this gateway has no engine")
}

func (absent) Close(context.Context) error { return nil }

// managed is the way to a backend that the gateway starts.
type managed struct {
	engine   Engine
	cfg      *config.Backend
	maxFrame int64
	log      *slog.Logger

	mu sync.Mutex
	at string // what up was made for: a restarted engine may be elsewhere
	up *stream.Upstream
}

// reach has the engine started, if need be, and returns the way to it.
func (m *managed) reach(ctx context.Context) (*stream.Upstream, func(), error) {
	address, release, err := m.engine.Acquire(ctx)
	if err != nil {
		return nil, nil, notLoaded(ctx, err)
	}
	up, err := m.upstream(address)
	if err != nil {
		release()
		return nil, nil, notLoaded(ctx, err)
	}
	return up, release, nil
}

func (m *managed) upstream(address string) (*stream.Upstream, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.up != nil && m.at == address {
		return m.up, nil
	}
	url := address
	if !strings.HasPrefix(address, "unix:") {
		url = "http://" + address
	}
	up, err := upstream(m.cfg, url, m.maxFrame, m.log)
	if err != nil {
		return nil, fmt.Errorf("reaching the engine: %w", err)
	}
	m.closeIdle()
	m.at, m.up = address, up
	return up, nil
}

func (m *managed) closeIdle() {
	if m.up != nil {
		m.up.Client.CloseIdleConnections()
	}
}

func (m *managed) close(ctx context.Context) error {
	err := m.engine.Close(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closeIdle()
	return err
}

// notLoaded returns the error of an engine that is not there.
func notLoaded(ctx context.Context, err error) error {
	if e := (*llm.Error)(nil); ctx.Err() != nil || errors.As(err, &e) {
		return err
	}
	e := llm.Upstream(http.StatusServiceUnavailable, "model_not_loaded",
		"The model could not be loaded: %s", lastWords(err.Error()))
	e.Err = err
	return e
}
