package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"dragoman/adapters"
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
func newEngine(cfg *config.Engine, wait time.Duration, o Options) engine {
	if o.engine != nil {
		return o.engine(cfg)
	}
	return managed.New(managed.Options{
		Binary: o.EngineBinary, Model: cfg.Model, Lib: cmp.Or(cfg.Lib, o.EngineLib),
		Args: engineArgs(cfg), TTL: cfg.TTL, Memory: o.memory, Wait: wait, AnySize: cfg.CheckMemory != nil && !*cfg.CheckMemory, Log: o.Log,
	})
}

// newChild returns the way to the engine of cfg.
func newChild(cfg *config.Backend, maxFrame int64, o Options, log *slog.Logger) *child {
	return &child{
		engine: newEngine(cfg.Engine, cfg.Timeout.First, o), cfg: cfg, maxFrame: maxFrame, log: log,
		paths: []string{managed.Program(o.EngineBinary), cfg.Engine.Model, cfg.Engine.Lib, o.EngineLib},
	}
}

// warnOfEngine logs if a model needs the engine program and that is not there.
func warnOfEngine(c *config.Config, o Options) {
	program := managed.Program(o.EngineBinary)
	for i := range c.Models {
		if o.engine != nil || !slices.ContainsFunc(c.Models[i].Backends, func(b config.Backend) bool { return b.Engine != nil }) {
			continue
		}
		if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
			o.Log.Warn("the engine program is not there, so its models cannot answer (make build-engine builds it)",
				"program", program, "model", c.Models[i].Name)
		}
		return
	}
}

// engineArgs returns the flags that the configuration asks for.
func engineArgs(cfg *config.Engine) []string {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	decimal := func(n float64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatFloat(n, 'g', -1, 64)
	}
	var args []string
	for _, f := range []struct{ name, value string }{
		{"-ctx", number(cfg.Ctx)},
		{"-parallel", number(cfg.Parallel)},
		{"-threads", number(cfg.Threads)},
		{"-device", cfg.Device},
		{"-gpu-layers", cfg.GPULayers},
		{"-cache-type-k", cfg.CacheTypeK},
		{"-cache-type-v", cfg.CacheTypeV},
		{"-flash-attention", cfg.FlashAttention},
		{"-rope-scaling", cfg.RopeScaling},
		{"-rope-freq-base", decimal(cfg.RopeFreqBase)},
		{"-rope-freq-scale", decimal(cfg.RopeFreqScale)},
	} {
		if f.value != "" {
			args = append(args, f.name, f.value)
		}
	}
	if cfg.Embeddings {
		args = append(args, "-embeddings")
	}
	return args
}

// child is the way to a backend that the gateway starts.
type child struct {
	engine   engine
	paths    []string // of files, which clients are not told
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
		return nil, nil, c.notLoaded(ctx, err)
	}
	up, err := c.upstream(address)
	if err != nil {
		release()
		return nil, nil, c.notLoaded(ctx, err)
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
	up, err := upstream(c.cfg, url, &adapters.Traits{}, c.maxFrame, c.log)
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

// notLoaded returns the error of an engine that is not there. Its words without
// paths are the client's, all of them the log's.
func (c *child) notLoaded(ctx context.Context, err error) error {
	if e := (*llm.Error)(nil); ctx.Err() != nil || errors.As(err, &e) {
		return err
	}
	e := llm.Upstream(http.StatusServiceUnavailable, "model_not_loaded",
		"The model could not be loaded: %s", lastWords(withoutFolders(err.Error(), c.paths...)))
	e.Err = err
	return e
}
