package route

import (
	"context"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

// sideBySide bounds for how many choices at once a backend is asked.
const sideBySide = 8

// choices is the answer of a backend that gives one choice at a time, or to several
// prompts: the backend is asked for each choice, and for several at once if it has
// slots free. The failure of one is the failure of all.
type choices struct {
	ctx     context.Context
	cancel  context.CancelFunc
	open    func(i int) (*stream.Stream, error)
	n       int          // choices
	each    int          // of one prompt
	begun   atomic.Int32 // how many choices were taken up
	said    chan *voice
	running sync.WaitGroup

	last  *voice // whose events Next has returned: it may not go on before the next call
	over  int    // choices
	usage llm.Usage
	err   error // what Next returns when it has no event
}

// voice says one choice after the other.
type voice struct {
	choice   int
	events   []llm.Event
	err      error
	usage    llm.Usage     // with io.EOF
	panicked any           // to be thrown where Next is called
	goOn     chan struct{} // what was said is not needed any more
}

// openEach opens an answer of several choices as open does one of a single choice,
// and returns with the first event of the first.
func (b *backend) openEach(ctx context.Context, req *llm.Request, model string) (stream.Source, error) {
	c := &choices{n: max(len(req.Prompts), 1) * req.N, each: req.N, said: make(chan *voice)}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.open = func(i int) (*stream.Stream, error) { return b.call(c.ctx, onlyChoice(req, i), model) }
	first, err := c.open(0)
	if err != nil {
		c.cancel()
		return nil, err
	}
	c.begun.Store(1)
	c.running.Go(func() { c.talk(0, first, b.slots) })
	for k := 1; k < min(c.n, sideBySide) && b.slots.try(); k++ {
		c.running.Go(func() { c.talk(c.take(), nil, b.slots) })
	}
	return c, nil
}

// onlyChoice returns the request for the i-th choice of req. Those of one prompt
// have seeds of their own: with one for all, they would all be the same.
func onlyChoice(req *llm.Request, i int) *llm.Request {
	r := *req
	if r.N = 1; req.Prompts != nil {
		r.Prompt, r.Prompts = req.Prompts[i/req.N], nil
	}
	r.Needs = slices.DeleteFunc(slices.Clone(req.Needs), func(n llm.Need) bool { return n.Field == "n" })
	r.Members = slices.DeleteFunc(slices.Clone(req.Members), func(m llm.Member) bool { return m.Name == "n" })
	if seed, err := strconv.ParseInt(req.Params[llm.Seed], 10, 64); err == nil {
		r.Params[llm.Seed] = strconv.FormatInt(seed+int64(i%req.N), 10)
	}
	return &r
}

// take returns the next choice to be taken up.
func (c *choices) take() int { return int(c.begun.Add(1)) - 1 }

// talk says choice i, which s is the stream of if it is open, then others until
// all are taken up. It frees the slot that it was given.
func (c *choices) talk(i int, s *stream.Stream, slot slots) {
	defer slot.release()
	v := &voice{goOn: make(chan struct{})}
	defer func() {
		if v.panicked = recover(); v.panicked != nil {
			c.say(v)
		}
	}()
	for more := true; more && i < c.n; i, s = c.take(), nil {
		v.choice = i
		more = c.tell(v, s)
	}
}

// tell says one choice, and reports whether it came to its proper end.
func (c *choices) tell(v *voice, s *stream.Stream) bool {
	if v.err = nil; s == nil {
		s, v.err = c.open(v.choice)
	}
	if v.err != nil {
		v.events = nil
		c.say(v)
		return false
	}
	defer s.Close()
	for v.err == nil {
		v.events, v.err = s.Next(v.events[:0])
		for i := range v.events {
			v.events[i].Choice = v.choice
		}
		if v.err == io.EOF {
			v.usage = s.Usage()
		}
		if !c.say(v) {
			return false
		}
	}
	return v.err == io.EOF
}

// say waits until v is heard and may go on. It returns false if it never will.
func (c *choices) say(v *voice) bool {
	select {
	case c.said <- v:
	case <-c.ctx.Done():
		return false
	}
	select {
	case <-v.goOn:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// Next implements stream.Source: it returns what any of the choices says next.
func (c *choices) Next(dst []llm.Event) ([]llm.Event, error) {
	for c.err == nil {
		if c.last != nil {
			select {
			case c.last.goOn <- struct{}{}:
			case <-c.ctx.Done():
			}
			c.last = nil
		}
		select {
		case v := <-c.said:
			c.last = v
			if c.hear(v); len(v.events) > 0 {
				return append(dst, v.events...), nil
			}
		case <-c.ctx.Done():
			c.err = context.Cause(c.ctx)
		}
	}
	return dst, c.err
}

// hear takes in what v says beside events: that a choice is over, or a failure.
func (c *choices) hear(v *voice) {
	switch {
	case v.panicked != nil:
		panic(v.panicked)
	case v.err == io.EOF:
		if v.choice%c.each == 0 { // the others have the same prompt
			c.usage.Prompt += v.usage.Prompt
			c.usage.Cached += v.usage.Cached
		}
		c.usage.Completion += v.usage.Completion
		c.usage.Reasoning += v.usage.Reasoning
		c.usage.Has, c.usage.Estimated = true, c.usage.Estimated || v.usage.Estimated
		if c.over++; c.over == c.n {
			c.err = io.EOF
		}
	case v.err != nil:
		c.err = v.err
		c.cancel()
	}
}

// Usage implements stream.Source.
func (c *choices) Usage() llm.Usage { return c.usage }

// Close implements stream.Source.
func (c *choices) Close() error {
	c.cancel()
	c.running.Wait()
	return nil
}
