package sched

import (
	"errors"
	"fmt"
	"slices"
)

// step decodes one batch and hands out what it gives. It reports false when
// there is nothing to do.
func (s *Scheduler) step() bool {
	start := s.opt.Now()
	running, prompts, read := s.fill()
	if len(s.batch) == 0 {
		return false
	}
	if err := s.model.Decode(s.batch); err != nil {
		s.fail(fmt.Errorf("decoding %d tokens: %w", len(s.batch), err))
		return true
	}
	s.unbridge(false)
	for i, st := range s.at {
		if st != nil {
			s.sample(i, st)
		}
	}
	if s.copied == 0 { // which takes its time too
		took := s.opt.Now().Sub(start).Seconds()
		if read == 0 && len(s.passes) > 1 {
			s.share.split(s.passes, took)
		} else {
			s.share.spent(running, prompts, read, took)
		}
	}
	return true
}

// fill makes the next batch: a token for every running answer, and parts of
// prompts. It returns how many answers and prompts have a part in it, and how
// many tokens of prompts it has. Tokens that close gaps count as answers.
func (s *Scheduler) fill() (running, prompts, read int) {
	s.batch, s.at, s.readers = s.batch[:0], s.at[:0], s.readers[:0]
	s.endAside()
	for _, sl := range s.slots {
		switch st := sl.st; {
		case st == nil:
		case !st.reading():
			running++
		default:
			st.reads = 0
			if !s.isAside(st) && !s.waits(st) {
				s.readers = append(s.readers, st)
			}
		}
	}
	s.steps++
	s.share.waiting = len(s.readers)
	s.startAside(running)
	room := s.opt.Batch - running
	if prompts = s.readShort(running, room); prompts == 0 {
		prompts = s.readOn(running, s.share.budget(running, room), room)
	}
	if prompts == 0 {
		s.bridge()
	}
	// llama.cpp puts those sequences into one pass whose numbers follow each
	// other, in the batch too.
	for _, sl := range s.slots {
		switch st := sl.st; {
		case sl.bridged:
			s.addBridge(sl)
			running++
		case st == nil:
		case !st.reading():
			s.add(st, st.last)
		case st.lead == nil:
			for _, id := range st.req.Prompt[len(sl.held):][:st.reads] {
				s.add(st, id)
			}
		}
	}
	return running, prompts, len(s.batch) - running
}

// readShort decides to read the whole of short prompts, the shortest first, as
// long as that holds up the answers for no longer than it may. It returns how
// many.
func (s *Scheduler) readShort(running, room int) (prompts int) {
	if running == 0 {
		return 0
	}
	slices.SortStableFunc(s.readers, shortest)
	tokens := 0
	for _, st := range s.readers {
		if !s.share.fits(running, 1, len(st.req.Prompt)-st.cached, true) {
			continue
		}
		if tokens += st.left(); tokens > room || !s.share.fits(running, prompts+1, tokens, false) {
			break
		}
		st.reads = st.left()
		prompts++
	}
	return prompts
}

// readOn decides whose prompts the budget goes to: those that are soonest done,
// and in every other step those that came first, so that nobody waits for ever.
// Few at a time are read, since equal shares would make all wait for the last.
// Where nobody answers the last may get more than the budget leaves, if room does.
// It returns how many.
func (s *Scheduler) readOn(running, budget, room int) (prompts int) {
	if s.steps%2 == 0 {
		slices.SortStableFunc(s.readers, shortest)
	} else {
		slices.SortStableFunc(s.readers, func(a, b *Stream) int { return a.admitted.Compare(b.admitted) })
	}
	for _, st := range s.readers {
		if budget <= 0 {
			break
		}
		if st.reads = evenly(st.left(), budget); running == 0 {
			st.reads = inTiles(st.left(), budget, room)
		}
		budget -= st.reads
		room -= st.reads
		prompts++
	}
	return prompts
}

// tile is how many tokens llama.cpp's flash attention computes together on a
// processor. A last part of a tile takes as long as a whole one; where there are
// fewer in all, they are computed one by one, which takes several times as long.
const tile = 64

// tiles returns the whole number of tiles nearest to n, if n is not much less than
// one.
func tiles(n int) int {
	if n < tile*3/4 {
		return n
	}
	return max(tile, (n+tile/2)/tile*tile)
}

// inTiles returns how many of so many tokens are read next, about budget at once or,
// at the end, half a tile more, but never more than most.
func inTiles(left, budget, most int) int {
	switch {
	case budget < tile:
		return evenly(left, budget)
	case left <= budget, left <= min(most, budget+tile/2):
		return left
	case left < 2*budget:
		return max(tile, left/2/tile*tile)
	}
	return budget / tile * tile
}

// evenly returns how many of so many tokens are read next, if at most budget are
// at once. What would leave few for the last time is read in halves, as a step of
// few takes longer than its share.
func evenly(left, budget int) int {
	if budget < left && left < 2*budget {
		return (left + 1) / 2
	}
	return min(left, budget)
}

func shortest(a, b *Stream) int { return a.left() - b.left() }

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
	s.unbridge(true)
	for _, it := range s.batch {
		sl := s.slots[it.Seq]
		s.trim(sl, 0)
		if sl.st != nil {
			s.finish(sl.st, Result{Err: err})
		}
	}
}
