package sched

import (
	"cmp"
	"slices"
)

// slot is one sequence of the model's memory. What the model has read stays
// there when a request ends, for the next one that begins in the same way.
type slot struct {
	seq  int
	st   *Stream // who has it; nil: free
	held []int32 // what the model has read, or will have after the batch in the making
	used uint64  // when its latest request ended; a larger number is later

	bridged bool // free, and yet in the batch: see bridge
}

// common counts the tokens by which a and b begin alike.
func common(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// worthCopying is how many tokens must be saved by copying them from one slot
// to another. llama.cpp copies a whole sequence's memory, used or not, which
// takes about as long as reading a token takes for every 256 tokens of context.
func (s *Scheduler) worthCopying() int { return max(8, s.opt.Context/256) }

// mayCopy reports whether another sequence may be copied in this step, which
// waits for it.
func (s *Scheduler) mayCopy() bool { return s.copied == 0 || s.copied*s.opt.Context < 8192 }

// promised counts the tokens of a prompt that a slot holds, or will once the prompt
// there has been read. One that is read aside comes all at once: it is worth waiting
// for only if most of it is wanted.
func (s *Scheduler) promised(sl *slot, prompt []int32) int {
	there := common(prompt, sl.held)
	if sl.st == nil || !sl.st.reading() {
		return there
	}
	n := common(prompt, sl.st.req.Prompt)
	if s.isAside(sl.st) && 2*(n-there) < sl.st.left() {
		return there
	}
	return n
}

// place gives st a free slot; there must be one. It is the one that holds most
// of the prompt, unless more would be lost there than won: then a spare one, to
// which the common part is copied.
func (s *Scheduler) place(st *Stream) {
	prompt := st.known()
	var best *slot
	shared := -1
	for _, sl := range s.slots {
		n := s.promised(sl, prompt)
		if n > shared || n == shared && sl.st == nil && best.st != nil {
			best, shared = sl, n
		}
	}
	to := best
	if best.st != nil || 2*shared < len(best.held) {
		to = s.spare()
	}
	st.slot, to.st = to, st
	s.trim(to, common(prompt, to.held))
	st.cached = len(to.held)
	if to == best || shared-st.cached < s.worthCopying() {
		return
	}
	if best.st != nil && len(best.held) < shared {
		st.lead, st.leader = best, best.st
		return
	}
	s.copy(st, best)
}

// spare returns a free slot whose memory is not worth much: of the half that
// nobody has used for longest the one with most neighbours, or else the nearest,
// among those in use. llama.cpp computes neighbours in one pass.
func (s *Scheduler) spare() *slot {
	s.free = s.free[:0]
	for _, sl := range s.slots {
		if sl.st == nil {
			s.free = append(s.free, sl)
		}
	}
	slices.SortStableFunc(s.free, func(a, b *slot) int { return cmp.Compare(a.used, b.used) })
	old := s.free[:(len(s.free)+1)/2]
	return slices.MinFunc(old, func(a, b *slot) int { return cmp.Compare(s.apart(a.seq), s.apart(b.seq)) })
}

// apart tells how far a free slot is from those in use: 0 between two, 1 beside one.
func (s *Scheduler) apart(seq int) int {
	for d := 1; d < len(s.slots); d++ {
		before, after := seq-d >= 0 && s.slots[seq-d].st != nil, seq+d < len(s.slots) && s.slots[seq+d].st != nil
		switch {
		case d == 1 && before && after:
			return 0
		case before || after:
			return d
		}
	}
	return len(s.slots)
}

// trim makes the model forget all but the first n tokens of a slot, or all if
// it cannot forget a part.
func (s *Scheduler) trim(sl *slot, n int) {
	if n > 0 && n < len(sl.held) && !s.model.Trim(sl.seq, n) {
		n = 0
	}
	if n == 0 && len(sl.held) > 0 {
		s.model.Trim(sl.seq, 0)
	}
	sl.held = sl.held[:n]
}

// copy brings to st's slot what from holds of its prompt.
func (s *Scheduler) copy(st *Stream, from *slot) {
	to := st.slot
	if !s.model.Copy(from.seq, to.seq) {
		return
	}
	s.copied++
	to.held = append(to.held[:0], from.held...)
	s.trim(to, common(st.known(), to.held))
	st.cached = len(to.held)
}

// waits reports whether st should not read its prompt yet, since another
// request is reading the same. When that has come far enough, or has ended,
// what is there is copied.
func (s *Scheduler) waits(st *Stream) bool {
	if st.lead == nil {
		return false
	}
	there := common(st.known(), st.lead.held)
	switch {
	case there < s.promised(st.lead, st.known()) && st.lead.st == st.leader:
		return true
	case there-st.cached < s.worthCopying(): // the other one was cancelled early
	case !s.mayCopy():
		return true
	default:
		s.copy(st, st.lead)
	}
	st.lead, st.leader = nil, nil
	return false
}
