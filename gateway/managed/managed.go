// Package managed runs the bundled engine as a child process: it starts one
// when a model is first asked for, tells where it listens, notices its end, and
// stops it when nobody has used it for a while. What is said to the engine
// over its address is not its business.
//
//	e := managed.New(managed.Options{Model: "builtin:stories"})
//	defer e.Close(ctx)
//	address, release, err := e.Acquire(ctx)
package managed

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Options say which engine to run and how. Only Model is required.
type Options struct {
	Binary string        // the program; "" is dragoman-engine beside this program
	Model  string        // a GGUF file, or builtin:stories
	Lib    string        // folder with llama.cpp's libraries; "" leaves it to the engine
	Args   []string      // further flags, such as -ctx 8192
	TTL    time.Duration // stop after so long without use; 0 is never
	Grace  time.Duration // between asking the engine to stop and killing it; 0 is 5 s
	Start  time.Duration // how long loading may take; 0 is 10 min
	Memory *Memory       // shared with other engines; nil is without bound
	Wait   time.Duration // how long a start may wait for memory; 0 is 5 min
	// AnySize runs the model even if it does not seem to fit into memory.
	AnySize bool
	Log     *slog.Logger // nil logs nothing
}

// ErrClosed is returned once Close has been called.
var ErrClosed = errors.New("the engine is closed")

// Engine is at most one running process for one model. Its methods are safe
// for concurrent use.
type Engine struct {
	opt   Options
	delay func(failures int) time.Duration // before the next start

	running sync.WaitGroup // of processes' goroutines

	mu       sync.Mutex
	current  *process // starting or ready; nil: none
	previous *process // told to stop or ended; nil: none yet
	alive    map[*process]bool
	idle     *time.Timer // runs while nobody uses the engine; nil without TTL
	failures int         // starts that failed and crashes, without a good run between
	failed   error       // why the last start failed; nil if it did not
	retry    time.Time   // no new start before this
	closed   bool
}

// New returns an engine that is not running yet.
func New(opt Options) *Engine {
	opt = opt.withDefaults()
	opt.Log = opt.Log.With("model", opt.Model)
	e := &Engine{opt: opt, delay: backoff, alive: map[*process]bool{}}
	if opt.TTL > 0 {
		e.idle = time.AfterFunc(opt.TTL, e.stopIdle)
	}
	return e
}

func (o Options) withDefaults() Options {
	o.Binary = Program(o.Binary)
	if o.Grace <= 0 {
		o.Grace = 5 * time.Second
	}
	if o.Start <= 0 {
		o.Start = 10 * time.Minute
	}
	if o.Wait <= 0 {
		o.Wait = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// flags returns how the model is to run.
func (o Options) flags() []string {
	var flags []string
	if o.Lib != "" {
		flags = append(flags, "-lib", o.Lib)
	}
	if o.AnySize {
		flags = append(flags, "-check-memory=false")
	}
	return append(flags, o.Args...)
}

// Program returns the path of the program that Options.Binary means.
func Program(binary string) string {
	if binary == "" {
		return beside("dragoman-engine")
	}
	return binary
}

// beside returns the path of a program in this program's folder.
func beside(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	exe, err := os.Executable()
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return filepath.Join(filepath.Dir(exe), name)
}

// backoff is how long to wait after that many failures in a row.
func backoff(failures int) time.Duration {
	return min(500*time.Millisecond<<min(failures-1, 10), 30*time.Second)
}

// Acquire returns where the engine listens, host:port or unix:PATH. It starts
// the engine if need be and waits until it is ready; all who wait share one
// start. Cancelling ctx ends this wait alone. The error is a *StartError,
// ErrClosed or ctx's.
//
// The engine is not stopped for idleness until release has been called, which
// must happen once; more calls do nothing. It may end by itself at any time,
// also just after: then calls to it fail, and the next Acquire starts another.
func (e *Engine) Acquire(ctx context.Context) (address string, release func(), err error) {
	p, err := e.enter()
	if err != nil {
		return "", nil, err
	}
	select {
	case <-p.started:
		err = p.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		e.leave(p)
		return "", nil, err
	}
	return p.address, sync.OnceFunc(func() { e.leave(p) }), nil
}

// leave counts a user of p out.
func (e *Engine) leave(p *process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.users--
	switch {
	case p.users > 0:
	case p.retired:
		p.stop(e.opt.Grace)
	case p.waiting && e.current == p:
		e.drop(p) // nobody wants it any more
	default:
		e.restartIdle()
		e.noteUse(p)
	}
}

// noteUse tells the budget whether anybody uses p. The caller holds mu.
func (e *Engine) noteUse(p *process) {
	if e.opt.Memory != nil && p.isReady() {
		e.opt.Memory.use(p.holder, p.users == 0)
	}
}

// restartIdle begins the wait for TTL anew if nobody uses the engine. The
// caller holds mu.
func (e *Engine) restartIdle() {
	if e.idle != nil && !e.used() && !e.closed {
		e.idle.Reset(e.opt.TTL)
	}
}

// used reports whether anybody uses the current process. The caller holds mu.
func (e *Engine) used() bool { return e.current != nil && e.current.users > 0 }

// retire makes p give its memory to another engine: at once if nobody uses it,
// else after its last user, unless it is to be idle now. It reports whether p
// goes. The next to come starts another.
func (e *Engine) retire(p *process, idle bool) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current != p {
		return true
	}
	if idle && p.users > 0 {
		return false
	}
	e.opt.Log.Info("engine makes room for another", "requests", p.users)
	e.current, e.previous, p.retired = nil, p, true
	if p.users == 0 {
		p.stop(e.opt.Grace)
	}
	return true
}

// stopIdle stops an engine that nobody uses. While it starts it is let be: the
// wait begins anew when it is ready.
func (e *Engine) stopIdle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.current; p != nil && p.users == 0 && p.isReady() {
		e.opt.Log.Info("engine stopped: nobody has used it", "ttl", e.opt.TTL)
		e.drop(p)
	}
}

// drop makes a process stop and room for another. The caller holds mu.
func (e *Engine) drop(p *process) {
	e.current, e.previous = nil, p
	p.stop(e.opt.Grace)
}

// enter counts a user in and returns the current process, or a new one.
func (e *Engine) enter() (*process, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, ErrClosed
	case e.current == nil && e.failed != nil && time.Now().Before(e.retry):
		return nil, e.failed // it would only fail again
	case e.current == nil:
		p := newProcess(e.opt)
		p.holder = &holder{insists: e.opt.AnySize, leave: func(idle bool) bool { return e.retire(p, idle) }}
		e.alive[p] = true
		previous, wait := e.previous, time.Until(e.retry)
		e.current = p
		e.running.Go(func() { e.supervise(p, previous, wait) })
	}
	e.current.users++
	if e.idle != nil {
		e.idle.Stop()
	}
	e.noteUse(e.current)
	return e.current, nil
}

// Close stops the engine and waits for its end; when ctx ends first the engine
// is killed. Afterwards the Engine cannot be used.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	if e.idle != nil {
		e.idle.Stop()
	}
	if e.current != nil {
		e.drop(e.current)
	}
	alive := slices.Collect(maps.Keys(e.alive))
	for _, p := range alive {
		p.stop(e.opt.Grace)
	}
	e.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		e.running.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		for _, p := range alive {
			p.kill()
		}
		<-ended
		return ctx.Err()
	}
}
