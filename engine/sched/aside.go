package sched

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
)

// Aside is a second memory of a model, for one sequence, in which some of the
// processors read a prompt while the others go on with the steps. A long prompt
// would otherwise hold up every answer, or take for ever.
type Aside interface {
	// Start makes it hold what a sequence of the model holds. It reports false if
	// that is not possible now. Run calls it, Finish and Drop between Decodes, and
	// never between a Model.Copy and the next Decode.
	Start(seq int) bool
	// Read extends what is held by tokens, AsideTokens at most, the first at place
	// pos. It may run beside all methods of Model; alone says that there are no
	// steps just now.
	Read(pos int, tokens []int32, alone bool) error
	// Pack makes what was read ready for Finish. It may run like Read.
	Pack() error
	// Finish makes a sequence of the model hold what was packed, and nothing else.
	// It reports false if it cannot; then the sequence holds nothing.
	Finish(seq int) bool
	// Drop forgets what was read. Start is followed by Finish or Drop.
	Drop()
	// Part is how much of the processors it has beside steps, between 0 and 1.
	Part() float64
}

// AsideTokens is how many tokens one Aside.Read gets at most.
const AsideTokens = 128

// patience is how long, in seconds, one Read may take: so long the next long prompt
// waits for one that was cancelled, and the end of the program.
const patience = 2.0

// reading is the prompt that is read aside.
type reading struct {
	st    *Stream
	sl    *slot
	from  int         // tokens that were there before
	part  int         // tokens to begin with
	alone atomic.Bool // there are no steps
	done  chan error  // capacity 1: how it ended
}

// readAside reads the prompts that come from jobs until that is closed or ctx ends.
func (s *Scheduler) readAside(ctx context.Context) {
	runtime.LockOSThread() // as in Run
	defer runtime.UnlockOSThread()
	for r := range s.jobs {
		r.done <- s.readOne(ctx, r)
		s.poke()
	}
}

// readOne reads a prompt but for its last token.
func (s *Scheduler) readOne(ctx context.Context, r *reading) error {
	prompt, n := r.st.known(), r.part
	for pos := r.from; pos < len(prompt); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.st.ctx.Err(); err != nil {
			return err
		}
		part := prompt[pos : pos+inTiles(len(prompt)-pos, n, AsideTokens)]
		start := time.Now()
		if err := s.opt.Aside.Read(pos, part, r.alone.Load()); err != nil {
			return err
		}
		pos += len(part)
		switch took := time.Since(start).Seconds(); {
		case took > patience:
			n = max(1, n/2)
		case took < patience/3:
			n = min(2*n, AsideTokens)
		}
	}
	return s.opt.Aside.Pack()
}

// isAside reports whether the prompt of st is read aside.
func (s *Scheduler) isAside(st *Stream) bool { return s.aside != nil && s.aside.st == st }

// startAside has the longest of the prompts that wait read aside, if that is
// sooner done so.
func (s *Scheduler) startAside(running int) {
	if s.aside != nil {
		s.aside.alone.Store(running+len(s.readers) == 0)
	}
	// What was copied in this step is there only after it.
	if s.opt.Aside == nil || s.aside != nil || s.copied > 0 || running == 0 || len(s.readers) == 0 {
		return
	}
	st := slices.MaxFunc(s.readers, shortest)
	if !s.share.asidePays(running, st.left(), s.opt.Batch-running, s.opt.Aside.Part()) || !s.opt.Aside.Start(st.slot.seq) {
		return
	}
	s.readers = slices.DeleteFunc(s.readers, func(other *Stream) bool { return other == st })
	s.share.waiting--
	s.aside = &reading{
		st: st, sl: st.slot, from: len(st.slot.held), done: make(chan error, 1),
		part: min(AsideTokens, tiles(s.share.pass.fit(patience*s.opt.Aside.Part()))),
	}
	s.copied++
	s.jobs <- s.aside
}

// endAside takes over what was read aside once that is whole. If it failed, the
// prompt is read in steps, and so are all that come later.
func (s *Scheduler) endAside() {
	r := s.aside
	if r == nil || s.copied > 0 {
		return
	}
	var err error
	select {
	case err = <-r.done:
	default:
		return
	}
	s.aside = nil
	switch {
	case r.sl.st != r.st || r.st.ctx.Err() != nil: // cancelled
		s.opt.Aside.Drop()
	case err != nil:
		s.opt.Aside.Drop()
		s.opt.Aside = nil
	case !s.opt.Aside.Finish(r.sl.seq):
		r.sl.held = r.sl.held[:0]
		s.opt.Aside = nil
	default:
		s.copied++
		r.sl.held = append(r.sl.held[:0], r.st.known()...)
	}
}
