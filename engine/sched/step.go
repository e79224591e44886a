package sched

import (
	"errors"
	"fmt"
)

// step decodes one batch and hands out what it gives. It reports false when
// there is nothing to do.
func (s *Scheduler) step() bool {
	start := s.opt.Now()
	running, prompts := s.fill()
	if len(s.batch) == 0 {
		return false
	}
	read := len(s.batch) - running
	if err := s.model.Decode(s.batch); err != nil {
		s.fail(fmt.Errorf("decoding %d tokens: %w", len(s.batch), err))
		return true
	}
	for i, st := range s.at {
		if st != nil {
			s.sample(i, st)
		}
	}
	if !s.copied { // which takes its time too
		s.costs.learn(running, prompts, read, s.opt.Now().Sub(start).Seconds())
	}
	return true
}

// fill makes the next batch: a token for every running answer, then prompts,
// in equal shares. It returns how many answers and prompts the batch has part in.
func (s *Scheduler) fill() (running, prompts int) {
	s.batch, s.at, s.readers = s.batch[:0], s.at[:0], s.readers[:0]
	// Whoever is first may get the whole of a small rest, so all take turns.
	s.first++
	for i := range s.slots {
		switch st := s.slots[(s.first+i)%len(s.slots)].st; {
		case st == nil:
		case !st.reading():
			s.add(st, st.last)
		case !s.waits(st):
			s.readers = append(s.readers, st)
		}
	}
	running = len(s.batch)
	budget := s.costs.budget(running, len(s.readers), s.opt.Batch-running)
	prompts = min(budget, len(s.readers))
	for i, st := range s.readers {
		left := st.req.Prompt[len(st.slot.held):]
		others := len(s.readers) - i
		n := min((budget+others-1)/others, len(left))
		for _, id := range left[:n] {
			s.add(st, id)
		}
		budget -= n
	}
	return running, prompts
}

// add puts the next token of st into the batch. Logits are wanted after all
// but those of a prompt that goes on.
func (s *Scheduler) add(st *Stream, id int32) {
	sl := st.slot
	it := Item{Seq: sl.seq, Pos: len(sl.held), Token: id}
	sl.held = append(sl.held, id)
	if it.Logits = !st.reading(); !it.Logits {
		st = nil
	}
	s.batch = append(s.batch, it)
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
		err := errors.New("no token is left to choose from")
		if f := st.req.Filter; f != nil && f.Err() != nil {
			err = f.Err()
		}
		s.finish(st, Result{Err: err})
		return
	}
	if r := st.take(t, s.ends[t.ID]); r != nil {
		s.finish(st, *r)
	}
}

// finish ends a request and frees its place.
func (s *Scheduler) finish(st *Stream, r Result) {
	s.ended++
	st.slot.st, st.slot.used = nil, s.ended
	st.end(r)
}

// fail ends every request that had a part in the batch: after a failed decode
// what the model remembers of them is unknown.
func (s *Scheduler) fail(err error) {
	for _, it := range s.batch {
		sl := s.slots[it.Seq]
		s.trim(sl, 0)
		if sl.st != nil {
			s.finish(sl.st, Result{Err: err})
		}
	}
}
