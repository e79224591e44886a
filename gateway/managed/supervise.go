package managed

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// goodRun is how long an engine must have run for its crash to count as the first.
const goodRun = time.Minute

// suspicious is how many crashes in a row make the GPU suspect.
const suspicious = 3

// supervise runs p to its end: after the end of the process before it, and
// after a wait if that one failed.
func (e *Engine) supervise(p, previous *process, wait time.Duration) {
	if previous != nil {
		select {
		case <-previous.ended: // two models at once might not fit
		case <-p.stopping:
		}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.stopping:
	}
	begin := time.Now()
	err := e.room(p)
	if err == nil {
		e.opt.Log.Info("engine starts", "binary", e.opt.Binary)
		begin = time.Now()
		err = p.start()
	} else {
		p.refuse(err)
	}
	if err == nil {
		e.opt.Log.Info("engine is ready", "pid", p.cmd.Process.Pid, "address", p.address, "after", time.Since(begin).Round(time.Millisecond))
		e.ready(p)
		begin = time.Now()
		err = p.wait()
	}
	e.ended(p, err, time.Since(begin))
	if e.opt.Memory != nil {
		e.opt.Memory.free(p.holder)
	}
	p.finish()
}

// room waits until p may have the memory that it will take.
func (e *Engine) room(p *process) error {
	if e.opt.Memory == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e.running.Go(func() {
		select {
		case <-p.stopping:
			cancel()
		case <-ctx.Done():
		}
	})
	about, err := Ask(ctx, e.opt)
	switch {
	case p.isStopping():
		return ErrClosed
	case err != nil:
		return err
	}
	e.waits(p, true)
	defer e.waits(p, false)
	return e.opt.Memory.take(p.holder, about, e.opt.Wait, p.stopping)
}

// waits notes whether p waits for memory. Nobody may want it any more.
func (e *Engine) waits(p *process, waiting bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p.waiting = waiting
	if waiting && p.users == 0 && e.current == p {
		e.drop(p)
	}
}

// ready notes a start that went well.
func (e *Engine) ready(p *process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed = nil
	e.restartIdle()
	e.noteUse(p)
}

// ended notes why a process is gone.
func (e *Engine) ended(p *process, err error, ran time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.alive, p)
	if e.current != p { // it was told to stop
		if p.isReady() {
			e.failures = 0
		}
		return
	}
	e.current, e.previous = nil, p
	if errors.As(err, new(*MemoryError)) { // the next to come may have more luck
		e.opt.Log.Warn("engine not started", "error", err)
		return
	}
	if ran > goodRun && p.err == nil {
		e.failures = 0
	}
	e.failures++
	e.failed = p.err
	if p.err == nil && p.gpu != "" && e.failures >= suspicious {
		err = fmt.Errorf("the engine for %s ended %d times in a row while it computed on %s (device: cpu leaves that alone, fewer gpu_layers or a smaller ctx take less of its memory): %w",
			e.opt.Model, e.failures, p.gpu, err)
		e.failed = err // for those who ask before the next start
	}
	wait := e.delay(e.failures)
	e.retry = time.Now().Add(wait)
	e.opt.Log.Error("engine ended", "error", err, "failures", e.failures, "wait", wait)
}
