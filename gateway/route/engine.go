package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/config"
	"dragoman/gateway/managed"
)

// engine is a model process that is started when it is wanted and stopped when
// it has not been for a while. It is a *managed.Engine, or a test's.
type engine interface {
	Acquire(ctx context.Context) (address string, release func(), err error)
	Close(ctx context.Context) error
}

// newEngine returns the engine of cfg, which is not started yet.
func newEngine(cfg *config.Engine, o Options) engine {
	if o.engine != nil {
		return o.engine(cfg)
	}
	return managed.New(managed.Options{
		Binary: o.EngineBinary, Model: cfg.Model, Lib: cmp.Or(cfg.Lib, o.EngineLib),
		Args: engineArgs(cfg), TTL: cfg.TTL, Log: o.Log,
	})
}

// engineArgs returns the flags that the configuration asks for.
func engineArgs(cfg *config.Engine) []string {
	var args []string
	for _, f := range []struct {
		name  string
		value int
	}{{"-ctx", cfg.Ctx}, {"-parallel", cfg.Parallel}, {"-threads", cfg.Threads}} {
		if f.value > 0 {
			args = append(args, f.name, strconv.Itoa(f.value))
		}
	}
	return args
}

// child is the way to a backend that the gateway starts.
type child struct {
	engine   engine
	cfg      *config.Backend
	maxFrame int64
	log      *slog.Logger

	mu sync.Mutex
	at string // what up was made for: a restarted engine is elsewhere
	up *stream.Upstream
}

// reach has the engine started, if need be, and returns the way to it and what
// to call when it is needed no more.
func (c *child) reach(ctx context.Context) (*stream.Upstream, func(), error) {
	address, release, err := c.engine.Acquire(ctx)
	if err != nil {
		return nil, nil, notLoaded(ctx, err)
	}
	up, err := c.upstream(address)
	if err != nil {
		release()
		return nil, nil, notLoaded(ctx, err)
	}
	return up, release, nil
}

func (c *child) upstream(address string) (*stream.Upstream, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.up != nil && c.at == address {
		return c.up, nil
	}
	url := address
	if !strings.HasPrefix(address, "unix:") {
		url = "http://" + address
	}
	up, err := upstream(c.cfg, url, "", c.maxFrame, c.log)
	if err != nil {
		return nil, fmt.Errorf("reaching the engine: %w", err)
	}
	c.closeIdle()
	c.at, c.up = address, up
	return up, nil
}

func (c *child) closeIdle() {
	if c.up != nil {
		c.up.Client.CloseIdleConnections()
	}
}

func (c *child) close(ctx context.Context) error {
	err := c.engine.Close(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeIdle()
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
