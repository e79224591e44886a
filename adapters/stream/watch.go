package stream

import (
	"context"
	"errors"
	"io"
	"time"
)

// errTimeout is the cause of a context that a time limit cancelled.
var errTimeout = errors.New("time limit")

// watch cancels a call that makes its caller wait too long: for the first
// event, then for the next bytes, then for the end. No goroutine waits for it.
type watch struct {
	timer *time.Timer // cancels the call; nil before there is a limit
	fire  func()
	idle  time.Duration
	phase phase
}

type phase uint8

const (
	beforeFirst phase = iota
	talking
	ending
)

// newWatch starts to wait for the first event. Limits of 0 are none.
func newWatch(cancel context.CancelCauseFunc, first, idle time.Duration) *watch {
	w := &watch{fire: func() { cancel(errTimeout) }, idle: idle}
	if first > 0 {
		w.arm(first)
	}
	return w
}

func (w *watch) arm(d time.Duration) {
	if w.timer == nil {
		w.timer = time.AfterFunc(d, w.fire)
		return
	}
	w.timer.Reset(d)
}

func (w *watch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// begun says that an event has come: from now on each read has its own limit.
func (w *watch) begun() {
	if w.phase == beforeFirst {
		w.phase = talking
		w.stop()
	}
}

// finished says that only the end is missing.
func (w *watch) finished() {
	if w.phase != ending {
		w.atMost(readOn)
	}
}

// atMost allows d for all that is still to be read.
func (w *watch) atMost(d time.Duration) {
	w.phase = ending
	w.arm(d)
}

// watched is a body whose reads are under the watch. The time that the caller
// takes between reads is not the backend's.
type watched struct {
	io.ReadCloser
	watch *watch
}

func (b *watched) Read(p []byte) (int, error) {
	if w := b.watch; w.phase == talking && w.idle > 0 {
		w.arm(w.idle)
		defer w.stop()
	}
	return b.ReadCloser.Read(p)
}
