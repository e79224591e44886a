package sched

import (
	"errors"
	"fmt"
)

// step decodes one batch and hands out what it gives. It reports false when
// there is nothing to do.
func (s *Scheduler) step() bool {
	s.fill()
	if len(s.batch) == 0 {
		return false
	}
	if err := s.model.Decode(s.batch); err != nil {
		s.fail(fmt.Errorf("decoding %d tokens: %w", len(s.batch), err))
		return true
	}
	for i, st := range s.at {
		if st != nil {
			s.sample(i, st)
		}
	}
	return true
}

// fill makes the next batch: a token for every running answer, then prompts,
// in equal shares.
func (s *Scheduler) fill() {
	s.batch, s.at = s.batch[:0], s.at[:0]
	reading := 0
	for _, st := range s.slots {
		switch {
		case st == nil:
		case st.read < len(st.req.Prompt):
			reading++
		default:
			s.add(st, st.last, len(st.req.Prompt)+st.generated-1, true)
		}
	}
	budget := s.opt.Batch - len(s.batch)
	if len(s.batch) > 0 {
		budget = min(budget, s.opt.Chunk)
	}
	// Whoever is first may get the whole of a small rest, so all take turns.
	s.first++
	for i := range s.slots {
		st := s.slots[(s.first+i)%len(s.slots)]
		if st == nil || st.read == len(st.req.Prompt) || budget == 0 {
			continue
		}
		n := min((budget+reading-1)/reading, len(st.req.Prompt)-st.read)
		for range n {
			s.add(st, st.req.Prompt[st.read], st.read, st.read == len(st.req.Prompt)-1)
			st.read++
		}
		budget -= n
		reading--
	}
}

func (s *Scheduler) add(st *Stream, id int32, pos int, logits bool) {
	s.batch = append(s.batch, Item{Seq: st.seq, Pos: pos, Token: id, Logits: logits})
	if !logits {
		st = nil
	}
	s.at = append(s.at, st)
}

// sample picks the token that follows batch item i, for st.
func (s *Scheduler) sample(i int, st *Stream) {
	logits, err := s.model.Logits(i)
	if err != nil {
		s.finish(st, Result{Err: fmt.Errorf("reading logits: %w", err)})
		return
	}
	t := st.sampler.Pick(logits)
	if t.ID < 0 {
		s.finish(st, Result{Err: errors.New("no token is left to choose from")})
		return
	}
	if r := st.take(t, s.ends[t.ID]); r != nil {
		s.finish(st, *r)
	}
}

// finish ends a request and frees its place.
func (s *Scheduler) finish(st *Stream, r Result) {
	s.slots[st.seq] = nil
	if err := s.model.Forget(st.seq); err != nil && r.Err == nil {
		r = Result{Err: fmt.Errorf("freeing a sequence: %w", err)}
	}
	st.end(r)
}

// fail ends every request that had a part in the batch: after a failed decode
// what the model remembers of them is unknown.
func (s *Scheduler) fail(err error) {
	for _, it := range s.batch {
		if st := s.slots[it.Seq]; st != nil {
			s.finish(st, Result{Err: err})
		}
	}
}
