// Package embed computes embeddings for many requests: it gathers their inputs
// into batches, as many as fit, so that the model reads them together.
package embed

import (
	"context"
	"slices"
	"sync"

	"dragoman/engine/sched"
)

// Model computes embeddings. Its method is called by one goroutine at a time.
type Model interface {
	// Embed returns a vector for each of inputs, which together are at most
	// Options.Inputs of Options.Batch tokens. The vectors are the caller's.
	Embed(inputs [][]int32) ([][]float32, error)
}

// Options bound the work.
type Options struct {
	Batch  int // tokens that are computed together: no input may have more
	Inputs int // inputs that are
	Queue  int // requests that may wait for others
}

// Runner serves requests in the order in which they came: the oldest is in every
// batch, and each other has an input in it before one has a second. Its methods are
// safe for concurrent use.
type Runner struct {
	model Model
	o     Options
	wake  chan struct{} // capacity 1: there is something to do

	mu      sync.Mutex
	jobs    []*job
	stopped bool
}

// job is one request.
type job struct {
	ctx     context.Context
	inputs  [][]int32
	begun   int // inputs that were taken up
	vectors [][]float32
	err     error
	done    chan struct{} // closed when vectors or err are what they will be
}

// New returns a Runner that answers once Run runs.
func New(m Model, o Options) *Runner {
	return &Runner{model: m, o: o, wake: make(chan struct{}, 1)}
}

// Embed returns a vector for each of inputs, none of which is empty or has more
// tokens than a batch. The error is ctx's, sched.ErrQueueFull, sched.ErrStopped or
// the model's.
func (r *Runner) Embed(ctx context.Context, inputs [][]int32) ([][]float32, error) {
	j := &job{ctx: ctx, inputs: inputs, done: make(chan struct{})}
	if err := r.enter(j); err != nil {
		return nil, err
	}
	select {
	case <-j.done:
		return j.vectors, j.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *Runner) enter(j *job) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopped:
		return sched.ErrStopped
	case len(r.jobs) > r.o.Queue: // one of them is served
		return sched.ErrQueueFull
	}
	r.jobs = append(r.jobs, j)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return nil
}

// Run serves until ctx ends. It is called once.
func (r *Runner) Run(ctx context.Context) {
	defer r.stop()
	for ctx.Err() == nil {
		inputs, owners := r.gather()
		if len(inputs) == 0 {
			select {
			case <-r.wake:
			case <-ctx.Done():
			}
			continue
		}
		vectors, err := r.model.Embed(inputs)
		r.hand(owners, vectors, err)
	}
}

// gather returns the next batch, and whose each input is.
func (r *Runner) gather() (inputs [][]int32, owners []*job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.jobs = slices.DeleteFunc(r.jobs, func(j *job) bool { return j.ctx.Err() != nil })
	tokens := 0
	for more := true; more; {
		more = false
		for _, j := range r.jobs {
			if j.begun == len(j.inputs) {
				continue
			}
			next := j.inputs[j.begun]
			if tokens+len(next) > r.o.Batch || len(inputs) == r.o.Inputs {
				return inputs, owners
			}
			j.begun++
			tokens += len(next)
			inputs, owners = append(inputs, next), append(owners, j)
			more = true
		}
	}
	return inputs, owners
}

// hand gives the vectors to those who wait for them.
func (r *Runner) hand(owners []*job, vectors [][]float32, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, j := range owners {
		if err != nil {
			j.err = err
			continue
		}
		j.vectors = append(j.vectors, vectors[i])
	}
	r.jobs = slices.DeleteFunc(r.jobs, func(j *job) bool {
		over := j.err != nil || len(j.vectors) == len(j.inputs)
		if over {
			close(j.done)
		}
		return over
	})
}

// stop ends all requests.
func (r *Runner) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	for _, j := range r.jobs {
		j.err = sched.ErrStopped
		close(j.done)
	}
	r.jobs = nil
}
