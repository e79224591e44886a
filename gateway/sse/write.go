package sse

import (
	"fmt"
	"io"
	"time"
)

// begin allows writing and starts the watch over silence.
func (b *Body) begin(w io.Writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.w = w
	if b.o.KeepAlive > 0 {
		b.timer = time.AfterFunc(b.o.KeepAlive, b.keepAlive)
	}
}

// halt ends writing. After it no keep-alive touches the writer, which then
// belongs to fasthttp again.
func (b *Body) halt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.w = nil
	if b.timer != nil {
		b.timer.Stop()
	}
}

// write sends what appendFrames makes in one Write, which fasthttp flushes as
// one chunk. After a failure it returns that again.
func (b *Body) write(appendFrames func(dst []byte) []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.writeLocked(appendFrames)
}

func (b *Body) writeLocked(appendFrames func(dst []byte) []byte) error {
	if b.failed != nil {
		return b.failed
	}
	b.buf = appendFrames(b.buf[:0])
	if len(b.buf) == 0 {
		return nil
	}
	n, err := b.w.Write(b.buf)
	b.bytes += int64(n)
	b.started = true
	if err != nil {
		b.failed = fmt.Errorf("%w: writing to it: %w", ErrGone, err)
		b.cancel() // frees whoever waits for the backend
		return b.failed
	}
	if b.timer != nil {
		b.timer.Reset(b.o.KeepAlive)
	}
	return nil
}

// keepAlive is called by the timer after a silence.
func (b *Body) keepAlive() {
	if !b.mu.TryLock() {
		return // a write is under way: no silence, and it sets the timer again
	}
	defer b.mu.Unlock()
	if b.w == nil {
		return
	}
	defer func() {
		if recover() != nil {
			b.cancel()
		}
	}()
	frame := b.o.Encoder.AppendKeepAlive
	if !b.started {
		frame = b.o.Encoder.AppendRole // an empty delta must not come before the role
	}
	if b.writeLocked(frame) == nil {
		b.timer.Reset(b.o.KeepAlive) // also if the encoder had nothing to say
	}
}
