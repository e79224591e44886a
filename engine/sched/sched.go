// Package sched runs many requests on one model at once. In every step it puts
// the next token of each running request, and a part of the prompts still to
// be read, into one batch and decodes that; requests come and go between steps.
//
// It works with token ids alone: text, templates and stop strings are the
// caller's. The model is an interface, so that tests need no llama.cpp.
package sched

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Model is what the scheduler needs of a model. Run alone calls it, one call
// at a time.
type Model interface {
	// Decode reads a batch. Each item extends its sequence by one token; a
	// sequence's items come in the order of their positions.
	Decode(batch []Item) error
	// Logits returns the logits after item i of the last batch, one for each
	// token of the vocabulary. They are valid until the next Decode.
	Logits(i int) ([]float32, error)
	// Trim makes a sequence forget all but its first n tokens. It reports false
	// if the model cannot forget a part; then the sequence is to be trimmed to 0,
	// which always succeeds.
	Trim(seq, n int) bool
	// Copy makes one sequence hold what another holds, and nothing else, from the
	// next Decode on. It reports false, and has changed nothing, if the model cannot
	// do that.
	Copy(from, to int) bool
	// Ends returns the tokens by which the model says that it is done, always the
	// same ones, in a slice of the caller's.
	Ends() []int32
}

// Item is one token of a batch.
type Item struct {
	Seq    int // 0 <= Seq < Options.Parallel
	Pos    int // place of the token in its sequence, from 0
	Token  int32
	Logits bool // Logits will be asked for
}

// Options bound what a Scheduler does. All numbers must be positive.
type Options struct {
	Context  int // tokens that one request may have, prompt and answer together
	Parallel int // requests that run at once
	Batch    int // tokens in one batch; at least Parallel
	Queue    int // requests that may wait

	Aside Aside            // nil: all prompts are read in steps
	Now   func() time.Time // the clock of Run, which goes on from call to call; nil: time.Now
}

// ErrQueueFull is returned when as many requests wait as may.
var ErrQueueFull = errors.New("the queue is full")

// ErrStopped is the fate of requests that a stopping scheduler did not finish.
var ErrStopped = errors.New("the engine is stopping")

// ContextError says that a prompt leaves no room for an answer.
type ContextError struct{ Context, Prompt int }

func (e *ContextError) Error() string {
	s := fmt.Sprintf("This model's maximum context length is %d tokens. However, your prompt has %d tokens.", e.Context, e.Prompt)
	if e.Prompt == e.Context {
		s += " The answer needs at least one."
	}
	return s
}

// Scheduler shares a model among requests. Its methods are safe for concurrent use.
type Scheduler struct {
	model Model
	opt   Options
	ends  map[int32]bool // the model's end tokens
	wake  chan struct{}  // capacity 1: there may be something to do
	jobs  chan *reading  // capacity 1: a prompt to be read aside

	mu      sync.Mutex
	queue   []*Stream
	stopped bool

	// Run's own.
	slots   []*slot   // by sequence
	ended   uint64    // requests that had a slot and ended
	steps   uint64    // made
	copied  int       // sequences that the model copied in this step
	free    []*slot   // scratch of spare
	readers []*Stream // whose prompts are being read
	batch   []Item
	aside   *reading // the prompt that is read aside; nil: none
	share   share
	at      []*Stream // whose logits batch[i] gives; nil for the others

	runs      []run // scratch of bridge
	passes    []int // tokens in the passes of a step that only continues answers
	forgetful bool  // the model cannot forget one token: no gaps are closed
}

// New returns a scheduler, which does nothing until Run is called.
func New(m Model, opt Options) *Scheduler {
	s := &Scheduler{
		model: m, opt: opt, wake: make(chan struct{}, 1), jobs: make(chan *reading, 1),
		ends:  make(map[int32]bool),
		slots: make([]*slot, opt.Parallel),
	}
	if s.opt.Now == nil {
		s.opt.Now = time.Now
	}
	for i := range s.slots {
		s.slots[i] = &slot{seq: i}
	}
	for _, id := range m.Ends() {
		s.ends[id] = true
	}
	return s
}

// Submit queues a request and returns the stream of its tokens, which must be
// read until its end unless ctx is cancelled. Cancelling ctx ends the request
// within one step and frees its place. The error is a *ContextError,
// ErrQueueFull or ErrStopped.
func (s *Scheduler) Submit(ctx context.Context, req Request) (*Stream, error) {
	if len(req.Prompt) >= s.opt.Context {
		return nil, &ContextError{Context: s.opt.Context, Prompt: len(req.Prompt)}
	}
	if req.Sampling.MinTokens > 0 {
		req.Sampling.Ends = append(s.model.Ends(), req.Stop...)
	}
	st := newStream(ctx, req, s.opt.Context)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil, ErrStopped
	}
	if len(s.queue) >= s.opt.Queue {
		s.dropCancelled()
		if len(s.queue) >= s.opt.Queue {
			return nil, ErrQueueFull
		}
	}
	s.queue = append(s.queue, st)
	s.poke()
	return st, nil
}

// dropCancelled takes requests out of the queue that nobody waits for.
func (s *Scheduler) dropCancelled() {
	kept := s.queue[:0]
	for _, st := range s.queue {
		if err := st.ctx.Err(); err != nil {
			st.end(Result{Err: err})
			continue
		}
		kept = append(kept, st)
	}
	clear(s.queue[len(kept):])
	s.queue = kept
}

func (s *Scheduler) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run does the work until ctx is cancelled; then it ends every request with
// ErrStopped and returns. It must be called once.
func (s *Scheduler) Run(ctx context.Context) {
	// On another thread, and so often on another processor, the caches are cold.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var beside sync.WaitGroup
	if s.opt.Aside != nil {
		beside.Go(func() { s.readAside(ctx) })
	}
	defer beside.Wait()
	defer close(s.jobs)
	for ctx.Err() == nil {
		s.admit()
		if s.step() {
			continue
		}
		select {
		case <-s.wake:
			s.gather()
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	s.stopped = true
	waiting := s.queue
	s.queue = nil
	s.mu.Unlock()
	for _, sl := range s.slots {
		if sl.st != nil {
			waiting = append(waiting, sl.st)
		}
	}
	for _, st := range waiting {
		st.end(Result{Err: ErrStopped})
	}
}

// How soon a request must follow another one to begin with it where nothing was
// going on, as it would else wait for that one's whole first step: together, or that
// share of the step, but never longer than latest.
const (
	together  = 150 * time.Microsecond
	ofTheStep = 1. / 64
	latest    = 2 * time.Millisecond
)

// gather waits until no further request comes.
func (s *Scheduler) gather() {
	for n := 1; n < s.opt.Parallel && s.another(); n++ {
	}
}

// another reports whether a further request comes soon. It does not sleep, as timers
// may be a millisecond late, and at first does not let other goroutines have its
// thread.
func (s *Scheduler) another() bool {
	s.mu.Lock()
	tokens := 0
	for _, st := range s.queue {
		tokens += len(st.req.Prompt)
	}
	s.mu.Unlock()
	// Of a longer prompt most may be known already.
	step := s.share.pass.cost(min(tokens, tile)) * float64(time.Second)
	wait := max(together, min(latest, time.Duration(step*ofTheStep)))
	for since := s.opt.Now(); ; {
		waited := s.opt.Now().Sub(since)
		if waited >= wait {
			return false
		}
		if waited > together {
			runtime.Gosched()
		}
		select {
		case <-s.wake:
			return true
		default:
		}
	}
}

// admit frees the slots of cancelled requests and gives free ones to those that
// wait.
func (s *Scheduler) admit() {
	free := 0
	for _, sl := range s.slots {
		if sl.st != nil && sl.st.ctx.Err() != nil {
			s.finish(sl.st, Result{Err: sl.st.ctx.Err()})
		}
		if sl.st == nil {
			free++
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropCancelled()
	for s.copied = 0; free > 0 && len(s.queue) > 0 && s.mayCopy(); free-- {
		i := s.next()
		st := s.queue[i]
		s.queue = slices.Delete(s.queue, i, i+1)
		st.admitted = time.Now()
		s.place(st)
	}
}

// next returns the place in the queue of the request whose turn it is: the one
// that has waited longest, of the client with the fewest requests running.
func (s *Scheduler) next() int {
	running := make(map[string]int)
	for _, sl := range s.slots {
		if sl.st != nil {
			running[sl.st.req.Client]++
		}
	}
	best := 0
	for i, st := range s.queue {
		if running[st.req.Client] < running[s.queue[best].req.Client] {
			best = i
		}
	}
	return best
}
