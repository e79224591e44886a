package sched

// run are slots beside each other whose answers go on.
type run struct {
	first, last int
	apart       bool // a slot before them cannot take part

	cost float64 // of passes for all runs up to this one, the cheapest
	from int     // the first run of the last of these passes
}

// bridge decides which free slots take part in a step that only continues
// answers. llama.cpp computes those sequences in one pass through the model
// whose numbers follow each other; a free one between two that run, as when a
// request has ended, makes two passes of one. A token that is forgotten after
// the step closes such a gap. The passes that follow, with their tokens, are
// the cheapest together; s.passes has their sizes.
func (s *Scheduler) bridge() {
	s.runs, s.passes = s.runs[:0], s.passes[:0]
	apart := false
	for i, sl := range s.slots {
		switch n := len(s.runs); {
		case sl.st == nil:
			apart = apart || s.forgetful || len(sl.held) == s.opt.Context
		case sl.st.reading(): // not in this step
			apart = true
		case n > 0 && s.runs[n-1].last == i-1:
			s.runs[n-1].last = i
		default:
			s.runs = append(s.runs, run{first: i, last: i, apart: apart})
			apart = false
		}
	}
	cost := s.share.pass.cost
	for j := range s.runs {
		r := &s.runs[j]
		for i := j; i >= 0; i-- {
			c := cost(r.last + 1 - s.runs[i].first)
			if i > 0 {
				c += s.runs[i-1].cost
			}
			if i == j || c < r.cost {
				r.cost, r.from = c, i
			}
			if s.runs[i].apart {
				break
			}
		}
	}
	for j := len(s.runs) - 1; j >= 0; j = s.runs[j].from - 1 {
		first, last := s.runs[s.runs[j].from].first, s.runs[j].last
		for _, sl := range s.slots[first:last] {
			sl.bridged = sl.st == nil
		}
		s.passes = append(s.passes, last+1-first)
	}
}

// addBridge puts a token of a free slot into the batch; any will do.
func (s *Scheduler) addBridge(sl *slot) {
	s.batch = append(s.batch, Item{Seq: sl.seq, Pos: len(sl.held), Token: s.batch[len(s.batch)-1].Token})
	s.at = append(s.at, nil)
}

// unbridge makes the model forget the tokens that closed gaps, and all else that
// it holds there if nobody knows what that is after a decode that failed.
func (s *Scheduler) unbridge(failed bool) {
	for _, sl := range s.slots {
		if !sl.bridged {
			continue
		}
		sl.bridged = false
		if failed {
			sl.held = sl.held[:0]
		}
		if n := len(sl.held); !s.model.Trim(sl.seq, n) {
			s.forgetful = true // never again; what it held is lost
			s.model.Trim(sl.seq, 0)
			sl.held = sl.held[:0]
		}
	}
}
