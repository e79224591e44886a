package managed

import (
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
	e.opt.Log.Info("engine starts", "binary", e.opt.Binary)
	begin := time.Now()
	err := p.start()
	if err == nil {
		e.opt.Log.Info("engine is ready", "pid", p.cmd.Process.Pid, "address", p.address, "after", time.Since(begin).Round(time.Millisecond))
		e.ready()
		begin = time.Now()
		err = p.wait()
	}
	e.ended(p, err, time.Since(begin))
	p.finish()
}

// ready notes a start that went well.
func (e *Engine) ready() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed = nil
	e.restartIdle()
}

// ended notes why a process is gone.
func (e *Engine) ended(p *process, err error, ran time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.current != p { // it was told to stop
		if p.isReady() {
			e.failures = 0
		}
		return
	}
	e.current, e.previous = nil, p
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
