package sched

import "sort"

// How much of the time goes to reading prompts.
const (
	// alone is how long, in seconds, a step may take that reads prompts alone:
	// so long is a cancel or a new request not noticed. It may always take as
	// long as four steps of one token, for a model so large that these are slow.
	alone = 0.5
	// beside is what reading may add to a step in which an answer goes on, as a
	// share of the step: the answer goes on at half its speed at least.
	beside = 0.7
	// atOnce is as how many steps one may take, but never longer than alone, in
	// which short prompts are read whole, if not much was read lately: many a
	// prompt takes less, and its answer can then share the steps of the others.
	atOnce = 32
	// many tokens in a pass that takes no longer than little times one token are
	// read even if that adds more to the step: where tokens cost nearly nothing,
	// on a GPU, a pass of one is hardly shorter, and one token a step is too slow.
	many   = 8
	little = 1.5
	// fresh is how many steps may read prompts until one does not, to see what
	// a step costs without.
	fresh = 8
	// blind is how many tokens are read when nothing is known yet.
	blind = 64
)

// share divides the time between answers that go on and prompts that are read.
// Those who wait for their answer to begin get about as much of it as those who
// wait for it to go on.
type share struct {
	costs
	waiting int     // prompts that could be read in the next step
	mixed   int     // steps that could both answer and read
	saved   float64 // how much of what may be read at once may be read now, at most 1
}

// weight is how much more of the time all that wait get than one prompt beside
// one answer.
func (s *share) weight(running int) float64 { return max(1, float64(s.waiting)/float64(running)) }

// fits reports whether so many tokens of so many prompts may be read at once,
// out of what was saved or, if ever, when all was.
func (s *share) fits(running, prompts, tokens int, ever bool) bool {
	plain := s.step(running, 0, 0)
	most := min(alone, atOnce*plain)
	if !ever {
		most *= min(1, s.saved*s.weight(running))
	}
	return plain > 0 && s.step(running, prompts, tokens)-plain <= most
}

// budget returns how many prompt tokens the next step reads besides continuing so
// many answers, where not all can be read at once; room is how many fit.
func (s *share) budget(running, room int) int {
	plain := s.step(running, 0, 0)
	limit := max(alone, 4*s.pass.cost(1))
	switch {
	case s.waiting == 0:
		return 0
	case running > 0:
		s.mixed++
		if plain == 0 || s.mixed%fresh == 0 {
			return 0
		}
		limit = plain * (1 + beside*s.weight(running))
	case s.pass.cost(1) == 0:
		return min(room, blind)
	}
	n := s.within(limit, running, room)
	if running == 0 {
		n = min(room, tiles(n))
	}
	return n
}

// within returns how many prompt tokens a step reads that may take so long.
func (s *share) within(limit float64, running, room int) int {
	n := max(1, sort.Search(room, func(n int) bool { return s.step(running, 1, n+1) > limit }))
	if most := s.pass.fit(little * s.pass.cost(1)); running > 0 && most >= many {
		n = max(n, most)
	}
	return min(room, n)
}

// asidePays reports whether a prompt of so many tokens, too long to be read at
// once, is sooner read by that part of the processors than in steps.
func (s *share) asidePays(running, tokens, room int, part float64) bool {
	plain := s.step(running, 0, 0)
	if plain == 0 || s.fits(running, 1, tokens, true) {
		return false
	}
	n := s.within(plain*(1+beside*s.weight(running)), running, room)
	inSteps := (s.step(running, 1, n) + plain/fresh) / float64(n)
	return s.pass.cost(AsideTokens)/AsideTokens/part < inSteps
}

// split takes in how long a step took that continued answers in several passes.
func (s *share) split(passes []int, t float64) {
	total := 0.0
	for _, n := range passes {
		total += s.pass.cost(n)
	}
	for _, n := range passes {
		part := 1 / float64(len(passes))
		if total > 0 {
			part = s.pass.cost(n) / total
		}
		s.pass.learn(n, t*part, 1./8)
	}
	s.saved = min(1, s.saved+beside*t/min(alone, atOnce*t))
}

// spent takes in how long a step took, besides learning from it.
func (s *share) spent(running, prompts, read int, t float64) {
	expected := s.step(running, prompts, read)
	s.learn(running, prompts, read, t)
	plain := s.step(running, 0, 0)
	if plain == 0 {
		s.saved = 1
		return
	}
	t = min(t, 2*expected) // more is an accident, and no prompt's fault
	extra := (t - plain) / s.weight(running)
	s.saved = min(1, max(-1, s.saved+(beside*plain-extra)/min(alone, atOnce*plain)))
}
