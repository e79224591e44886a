package sched

import (
	"context"
	"slices"
	"sync"
	"time"

	"dragoman/engine/sample"
)

// Request is what a caller wants generated.
type Request struct {
	Prompt    []int32       // at least one token
	Client    string        // who asks: of those who wait, clients with fewer answers running come first
	MaxTokens int           // 0 or less: as many as the context holds
	Sampling  sample.Params // but for Ends, which the scheduler knows
	Stop      []int32       // tokens that end the answer, besides the model's own
	Filter    sample.Filter // nil: any token may come
}

// Reason says what ended an answer.
type Reason string

// The reasons for an answer to end.
const (
	EndOfGeneration Reason = "eos"
	StopToken       Reason = "stop_token"
	MaxTokens       Reason = "max_tokens"
	ContextFull     Reason = "context"
)

// Result is how a request ended. The token that ended it is neither among the
// stream's tokens nor counted.
type Result struct {
	Reason     Reason
	Cached     int           // tokens of the prompt that were not read anew
	Completion int           // tokens generated
	Queue      time.Duration // waiting for a place
	Prompt     time.Duration // reading the prompt, until the first token was sampled
	Decode     time.Duration // from then to the end
	Err        error         // not nil: the answer is not whole, and Reason is ""
}

// Stream holds the tokens of one request until its reader takes them: the
// scheduler never waits for a slow reader. At most a context's worth gathers.
type Stream struct {
	ctx     context.Context
	req     Request
	limit   int // tokens that the answer may have
	sampler *sample.Sampler

	// Run's own.
	slot      *slot
	cached    int     // tokens of the prompt that the slot held
	reads     int     // tokens of the prompt that the next step reads
	lead      *slot   // where another request reads the same; nil: no need to wait
	leader    *Stream // that request
	last      int32   // sampled, not decoded yet; valid once generated > 0
	generated int
	submitted time.Time
	admitted  time.Time
	firstAt   time.Time

	ready chan struct{} // capacity 1: something is new below

	mu     sync.Mutex
	tokens []sample.Token // not taken yet
	result *Result
}

func newStream(ctx context.Context, req Request, contextSize int) *Stream {
	limit := contextSize - len(req.Prompt)
	if req.MaxTokens > 0 {
		limit = min(limit, req.MaxTokens)
	}
	return &Stream{
		ctx: ctx, req: req, limit: limit, sampler: sample.New(req.Sampling, req.Prompt, req.Filter),
		submitted: time.Now(), ready: make(chan struct{}, 1),
	}
}

// reading reports whether there is more of the prompt to be read.
func (st *Stream) reading() bool { return len(st.slot.held) < len(st.req.Prompt) }

// left counts the tokens of the prompt that are still to be read.
func (st *Stream) left() int { return max(0, len(st.req.Prompt)-len(st.slot.held)) }

// known is as much of the prompt as need not be read if the model knows it: the
// last token is, for what follows it.
func (st *Stream) known() []int32 { return st.req.Prompt[:len(st.req.Prompt)-1] }

// Next waits for news and appends to dst all tokens that have come since. A
// result that is not nil is the end; tokens may come with it. One goroutine
// may call it. When the request's context is cancelled it returns at once,
// with that error in the result.
func (st *Stream) Next(dst []sample.Token) ([]sample.Token, *Result) {
	for {
		st.mu.Lock()
		dst = append(dst, st.tokens...)
		got, result := len(st.tokens) > 0, st.result
		st.tokens = st.tokens[:0]
		st.mu.Unlock()
		if got || result != nil {
			return dst, result
		}
		select {
		case <-st.ready:
		case <-st.ctx.Done():
			return dst, &Result{Err: st.ctx.Err()}
		}
	}
}

// take accepts a sampled token and returns how the answer ends with it, or nil.
func (st *Stream) take(t sample.Token, ends bool) *Result {
	if st.generated == 0 && st.firstAt.IsZero() {
		st.firstAt = time.Now()
	}
	switch {
	case ends:
		return &Result{Reason: EndOfGeneration}
	case slices.Contains(st.req.Stop, t.ID):
		return &Result{Reason: StopToken}
	}
	st.last = t.ID
	st.generated++
	st.mu.Lock()
	st.tokens = append(st.tokens, t)
	st.mu.Unlock()
	st.notify()
	switch {
	case st.req.Filter != nil && st.req.Filter.Done():
		return &Result{Reason: EndOfGeneration}
	case st.generated < st.limit:
		return nil
	case st.generated == st.req.MaxTokens:
		return &Result{Reason: MaxTokens}
	}
	return &Result{Reason: ContextFull}
}

// end fills in r's figures and hands it to the reader.
func (st *Stream) end(r Result) {
	now := time.Now()
	r.Cached, r.Completion = st.cached, st.generated
	switch {
	case st.admitted.IsZero():
		r.Queue = now.Sub(st.submitted)
	case st.firstAt.IsZero():
		r.Queue, r.Prompt = st.admitted.Sub(st.submitted), now.Sub(st.admitted)
	default:
		r.Queue, r.Prompt = st.admitted.Sub(st.submitted), st.firstAt.Sub(st.admitted)
		r.Decode = now.Sub(st.firstAt)
	}
	st.mu.Lock()
	st.result = &r
	st.mu.Unlock()
	st.notify()
}

func (st *Stream) notify() {
	select {
	case st.ready <- struct{}{}:
	default:
	}
}
