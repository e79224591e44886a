package stream

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

const (
	readOn = time.Second            // for usage and the end mark, after the last finish
	drain  = 100 * time.Millisecond // for the end of the call, once the answer is complete
)

// Stream is one answer of a backend. It is used by one goroutine; cancelling
// the context of Open makes a waiting Next return.
type Stream struct {
	up      *Upstream
	req     *llm.Request
	traits  *adapters.Traits
	ctx     context.Context
	cancel  context.CancelCauseFunc
	watch   *watch
	answer  answer
	decoder adapters.Decoder
	decoded []llm.Event
	pipe    *pipeline

	first    []llm.Event // what Open has read
	opened   bool
	err      error // what Next returns when it has no event
	atEOF    bool  // the body was read to its end
	whole    bool  // the body is one frame
	followed bool  // the backend has begun an answer, whose stream is another call's
	noted    note
	onClose  []func()
	closed   bool
}

// Next appends the next events, at least one, to dst. Their bytes are valid
// until the next call. Texts are deltas of valid UTF-8 without stop strings;
// each choice has exactly one event with Finish, its last. After the last
// finish, Next reads on for usage, for a second at most.
//
// Without an event, the error is io.EOF after a complete answer, the context's
// error once that is cancelled, and an *llm.Error otherwise. It is final.
func (s *Stream) Next(dst []llm.Event) ([]llm.Event, error) {
	if len(s.first) > 0 {
		dst = append(dst, s.first...)
		s.first = nil
		return dst, nil
	}
	n := len(dst)
	for {
		if s.err != nil {
			return dst, s.err
		}
		if dst = s.step(dst); len(dst) > n {
			return dst, nil
		}
	}
}

// Usage returns the counts after Next has returned an error. What the backend
// did not say is estimated.
func (s *Stream) Usage() llm.Usage {
	u := estimateUsage(s.pipe.usage, s.req, s.pipe.bytes)
	if u.Estimated {
		s.note(noteEstimated)
	}
	return u
}

// OnClose makes the first Close call f at its end, for what the answer takes, such
// as a slot. It must be called before Close; what was given last is called first.
func (s *Stream) OnClose(f func()) { s.onClose = append(s.onClose, f) }

// Close ends the call to the backend, at once if the answer is not complete.
// It must not run at the same time as Next; a second Close does nothing.
func (s *Stream) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.err == io.EOF && !s.atEOF && !s.pipe.stopped {
		s.watch.atMost(drain)
		s.answer.drain()
	}
	s.watch.stop()
	s.cancel(nil)
	err := s.answer.Close()
	s.abandon()
	for _, f := range slices.Backward(s.onClose) {
		f()
	}
	return err
}

// step reads one frame and appends its events to dst, or sets s.err.
func (s *Stream) step(dst []llm.Event) []llm.Event {
	s.pipe.arena, s.pipe.logs = s.pipe.arena[:0], s.pipe.logs[:0]
	fr, err := s.answer.Next()
	if err != nil {
		s.atEOF = err == io.EOF
		return s.end(dst, err)
	}
	if mark := s.traits.EndMarker; mark != "" && string(fr.Data) == mark {
		return s.end(dst, errMark)
	}
	decoded, err := s.decoder.Decode(s.decoded[:0], fr)
	s.decoded = decoded
	if len(decoded) > 0 {
		s.watch.begun()
	}
	for i := range decoded {
		var pushErr error
		if dst, pushErr = s.pipe.push(dst, &decoded[i]); pushErr != nil {
			return s.fail(dst, pushErr)
		}
	}
	if s.pipe.left == 0 { // only usage is of interest now, and no error
		s.finished()
		return dst
	}
	if err != nil {
		return s.fail(dst, s.decodeError(err, fr.Data))
	}
	return dst
}

// errMark says that the backend's end mark has come.
var errMark = errors.New("end mark")

var errNoReason = errors.New("no finish reason and no end mark")

// end deals with the end of the answer: err is io.EOF, errMark, or why reading
// failed.
func (s *Stream) end(dst []llm.Event, err error) []llm.Event {
	if s.pipe.left == 0 {
		s.err = io.EOF
		return dst
	}
	if err != io.EOF && err != errMark {
		return s.fail(dst, s.readError(err))
	}
	silent := s.traits.EOFIsFinish
	// A whole frame that was understood has nothing behind it that could be missing.
	if silent || err == errMark || s.whole {
		if !silent {
			s.note(noteNoFinish)
		}
		var ok bool
		if dst, ok = s.pipe.finishAll(dst, silent); ok {
			s.err = io.EOF
			return dst
		}
	}
	e := llm.Upstream(http.StatusBadGateway, "", "The backend's answer ended without saying why.")
	e.Err = errNoReason
	return s.fail(dst, e)
}

// fail ends the answer with err, after the text that was kept back. Before
// anything was said there is no need for that: another backend may be asked.
func (s *Stream) fail(dst []llm.Event, err error) []llm.Event {
	if s.opened && s.ctx.Err() == nil {
		dst = s.pipe.flush(dst)
	}
	s.err = err
	s.cancel(nil)
	return dst
}

// finished is called when all choices are. If one was cut off, the backend may
// go on for long, and is not asked for more.
func (s *Stream) finished() {
	if s.pipe.stopped {
		s.err = io.EOF
		s.cancel(nil)
		return
	}
	if _, ok := s.answer.(*socket); ok { // it stays open, with nothing to come
		s.err = io.EOF
		return
	}
	s.watch.finished()
}

// note is something that is logged once for each answer.
type note uint8

const (
	noteRewritten note = 1 << iota
	noteNoEcho
	noteNoFinish
	noteEstimated
)

func (s *Stream) note(n note) {
	if s.noted&n != 0 {
		return
	}
	s.noted |= n
	log := s.log()
	switch n {
	case noteRewritten:
		log.Warn("the backend rewrote or shortened text that was already sent", "upstream_model", s.req.Model)
	case noteNoEcho:
		log.Warn("the backend's text does not begin with the prompt, as its adapter says it does", "upstream_model", s.req.Model)
	case noteNoFinish:
		log.Warn("the backend ended its answer without a finish reason", "upstream_model", s.req.Model)
	case noteEstimated:
		log.Debug("token counts are estimated", "upstream_model", s.req.Model)
	}
}

func (s *Stream) log() *slog.Logger {
	if s.up.Log == nil {
		return slog.Default()
	}
	return s.up.Log
}
