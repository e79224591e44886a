package sse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"dragoman/adapters/llm"
)

// ErrGone is the cause with which a request's context is cancelled when its
// client has left. A stream that ends with it writes nothing more.
var ErrGone = errors.New("the client has gone")

// Source is a backend's answer, as stream.Stream gives it. Next blocks for at
// least one event and returns io.EOF after a complete answer; Usage is asked
// after that.
type Source interface {
	Next(dst []llm.Event) ([]llm.Event, error)
	Usage() llm.Usage
	Close() error
}

// Encoder turns what happens into the bytes of frames, appended to dst. It is
// never called concurrently.
type Encoder interface {
	AppendRole(dst []byte) []byte // the client shall see a beginning, nothing is known yet
	AppendEvent(dst []byte, ev *llm.Event) []byte
	AppendKeepAlive(dst []byte) []byte
	AppendEnd(dst []byte, u llm.Usage) []byte
	AppendError(dst []byte, err error) []byte // the last frames of a failed stream
}

// Options say how to stream one answer.
type Options struct {
	// Open starts the answer and returns with its first event. It obeys its
	// context, which also ends the Source later.
	Open    func(context.Context) (Source, error)
	Encoder Encoder

	CommitAfter time.Duration // how long an error may still become an HTTP status
	KeepAlive   time.Duration // how long the client hears nothing; 0 is for ever

	// Explain turns an error into the one that the client shall see; nil keeps it.
	Explain func(error) error
	// Done is called once, after everything else, by Close.
	Done func(Result)
}

// Result is what became of a stream.
type Result struct {
	First  time.Time // when the backend's first event came; zero if none did
	Bytes  int64     // how much was written, without the framing of HTTP
	Finish llm.Finish
	Err    error // nil after a complete answer
}

// Body is a response body under way. It implements fasthttp.BodyWriterTo.
type Body struct {
	o      Options
	cancel context.CancelFunc

	opened  chan struct{} // closed once src, openErr and first are set
	src     Source
	openErr error
	first   time.Time

	mu      sync.Mutex // held for every write and every use of the encoder
	w       io.Writer  // nil while no write is allowed
	timer   *time.Timer
	buf     []byte
	started bool // the client has seen a frame
	bytes   int64
	failed  error // the first write that failed

	finish llm.Finish
	err    error
	close  sync.Once
}

// Start opens the answer and waits for its first event, for o.CommitAfter, or
// for the end of ctx, whichever comes first. An error means that nothing has
// been promised to the client and that there is nothing to close. Otherwise the
// caller owes the body a Close, which fasthttp does for a response body.
func Start(ctx context.Context, o Options) (*Body, error) {
	if o.Explain == nil {
		o.Explain = func(err error) error { return err }
	}
	ctx, cancel := context.WithCancel(ctx)
	b := &Body{o: o, cancel: cancel, opened: make(chan struct{})}
	go b.open(ctx)

	commit := time.NewTimer(o.CommitAfter)
	defer commit.Stop()
	select {
	case <-b.opened:
	case <-commit.C:
		return b, nil
	case <-ctx.Done():
		<-b.opened // Open obeys ctx
	}
	if b.openErr == nil && ctx.Err() == nil {
		return b, nil
	}
	err := b.openErr
	if err == nil {
		err = ctx.Err()
		_ = b.src.Close()
	}
	cancel()
	return nil, o.Explain(err)
}

func (b *Body) open(ctx context.Context) {
	defer close(b.opened)
	defer func() {
		if p := recover(); p != nil {
			b.openErr = panicked(p)
		}
	}()
	open := b.o.Open
	b.o.Open = nil // it holds the request, which may be large
	b.src, b.openErr = open(ctx)
	b.first = time.Now()
}

// SupportsBodyWriteTo tells fasthttp that WriteTo replaces Read.
func (b *Body) SupportsBodyWriteTo() bool { return true }

// Read is there because fasthttp's bodies are readers; it is never called.
func (b *Body) Read([]byte) (int, error) {
	return 0, errors.New("reading a stream that can only be written")
}

// WriteTo writes the whole answer, one Write for all frames that are at hand.
// A backend that fails ends the stream with an error frame and is no error
// here: the HTTP body is complete. A client that left or does not read is one.
func (b *Body) WriteTo(w io.Writer) (int64, error) {
	b.begin(w)
	b.err = b.relay()
	b.halt()
	if errors.Is(b.err, ErrGone) {
		return b.bytes, b.err
	}
	return b.bytes, nil
}

// relay passes events on until the answer ends. Its error is the failed write's
// if one failed.
func (b *Body) relay() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = b.fail(panicked(p))
		}
	}()
	src, err := b.source()
	if err != nil {
		return b.fail(err)
	}
	var events []llm.Event
	for {
		events, err = src.Next(events[:0])
		if len(events) > 0 {
			if err := b.writeEvents(events); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return b.write(func(dst []byte) []byte { return b.o.Encoder.AppendEnd(dst, src.Usage()) })
		case err != nil:
			return b.fail(err)
		}
	}
}

// source returns the opened answer. If it is not there yet, the time to hold
// the status back is over: the client gets the beginning.
func (b *Body) source() (Source, error) {
	select {
	case <-b.opened:
	default:
		if err := b.write(b.o.Encoder.AppendRole); err != nil {
			return nil, err
		}
		<-b.opened
	}
	return b.src, b.openErr
}

func (b *Body) writeEvents(events []llm.Event) error {
	return b.write(func(dst []byte) []byte {
		for i := range events {
			dst = b.o.Encoder.AppendEvent(dst, &events[i])
			if events[i].Finish != "" {
				b.finish = events[i].Finish
			}
		}
		return dst
	})
}

// fail ends the stream with an error frame, unless nobody would read it.
func (b *Body) fail(err error) error {
	err = b.o.Explain(err)
	if errors.Is(err, ErrGone) {
		return err
	}
	if werr := b.write(func(dst []byte) []byte { return b.o.Encoder.AppendError(dst, err) }); werr != nil {
		return werr
	}
	return err
}

// Close cancels what still runs, waits for it and reports the result. It is
// safe to call more than once.
func (b *Body) Close() error {
	b.close.Do(func() {
		b.halt()
		b.cancel()
		<-b.opened
		if b.src != nil {
			_ = b.src.Close()
		}
		if b.o.Done != nil {
			b.o.Done(b.result())
		}
	})
	return nil
}

func (b *Body) result() Result {
	res := Result{Bytes: b.bytes, Finish: b.finish, Err: b.err}
	if b.openErr == nil {
		res.First = b.first
	}
	if res.Err == nil && !b.started {
		res.Err = ErrGone // not even the header could be written
	}
	return res
}

// PanicError is a panic on the way of an answer. The client gets an error that
// says nothing of it; Stack is for the log.
type PanicError struct {
	Value string
	Stack []byte
}

// Error returns what was thrown.
func (e *PanicError) Error() string { return "panic: " + e.Value }

func panicked(p any) error {
	return &PanicError{Value: fmt.Sprintf("%.200v", p), Stack: debug.Stack()}
}
