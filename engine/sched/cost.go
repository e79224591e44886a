package sched

import (
	"math"
	"math/bits"
	"sort"
)

// curve estimates how many seconds a number of tokens takes: at index i that
// of 1<<i tokens. It takes for granted that more tokens never cost less, nor
// twice as many more than twice as much, so that what is learned of one number
// says something of all, and what was learned long ago does not mislead. The
// zero value knows nothing.
type curve [10]float64

// cost returns what n tokens take, or 0 if nothing is known.
func (c *curve) cost(n int) float64 {
	i := min(bits.Len(uint(n))-1, len(c)-1)
	if n <= 0 {
		return 0
	}
	size, next := float64(int(1)<<i), 2*c[i]
	if i+1 < len(c) {
		next = c[i+1]
	}
	return c[i] + (next-c[i])*(float64(n)/size-1)
}

// learn takes in that n tokens took t seconds, and moves the estimate by the
// share weight of the difference. A measurement twice as high as expected is as
// good as a higher one: other programs get in the way.
func (c *curve) learn(n int, t, weight float64) {
	old := c.cost(n)
	if old == 0 {
		c.guess(n, t)
		return
	}
	factor := 1 + (min(max(t, 0)/old, 2)-1)*weight
	i := min(bits.Len(uint(n))-1, len(c)-1)
	last := min(i+1, len(c)-1)
	for j := i; j <= last; j++ {
		c[j] *= factor
	}
	c[last] = min(max(c[last], c[i]), 2*c[i])
	for j := last + 1; j < len(c); j++ {
		c[j] = min(max(c[j], c[j-1]), 2*c[j-1])
	}
	for j := i - 1; j >= 0; j-- {
		c[j] = max(min(c[j], c[j+1]), c[j+1]/2)
	}
}

// guess fills an empty curve from one measurement, rather too high: fewer
// tokens are taken to cost more than their share, and more tokens all of it.
func (c *curve) guess(n int, t float64) {
	t = max(t, 1e-9) // not nothing: a clock may be coarse
	for i := range c {
		share := float64(int(1)<<i) / float64(n)
		if share < 1 {
			share = math.Sqrt(share)
		}
		c[i] = t * share
	}
}

// costs estimates how long steps take. llama.cpp computes a step in passes
// through the model: the first takes one token of every sequence in the batch,
// and a second one the rest of the prompts.
type costs struct {
	first, rest curve
	mixed       int // steps that could both answer and read, without a break
}

// step returns what a step takes that reads so many tokens of so many prompts,
// besides continuing so many answers.
func (c *costs) step(running, prompts, read int) float64 {
	prompts = min(prompts, read)
	return c.first.cost(running+prompts) + c.rest.cost(read-prompts)
}

// learn takes in how long one took. Where both passes were made, only steps of
// one pass tell which of them is to blame.
func (c *costs) learn(running, prompts, read int, t float64) {
	first := c.first.cost(running + prompts)
	switch rest := c.rest.cost(read - prompts); {
	case read == prompts:
		c.first.learn(running+prompts, t, 1./2)
	case first == 0 || rest == 0:
		c.rest.learn(read, t-first, 1./4)
	default:
		c.first.learn(running+prompts, t*first/(first+rest), 1./8)
		c.rest.learn(read-prompts, t*rest/(first+rest), 1./4)
	}
}

// How much of the time goes to reading prompts.
const (
	// alone is how long, in seconds, a step may take that reads prompts alone:
	// so long is a cancel or a new request not noticed. It may always take as
	// long as four steps of one token, for a model so large that these are slow.
	alone = 0.2
	// beside is what reading a prompt may add to a step in which an answer goes
	// on, as a share of the step: the answer goes on at half its speed at least.
	beside = 0.7
	// least is the share of its speed alone that reading gets even if it must
	// add more than that: where a token more or less costs nearly nothing, on a
	// GPU, as good as nothing would be read otherwise.
	least = 1. / 8
	// fresh is how many steps may read prompts until one does not, to see what
	// a step costs without.
	fresh = 8
	// blind is how many tokens are read when nothing is known yet.
	blind = 64
)

// budget returns how many prompt tokens the next step reads, of so many
// prompts, besides continuing so many answers; room is how many fit. Those who
// wait for their answer to begin get as much of the time as those who wait for
// it to go on.
func (c *costs) budget(running, prompts, room int) int {
	plain := c.step(running, 0, 0)
	limit := max(alone, 4*c.rest.cost(1))
	switch {
	case prompts == 0:
		return 0
	case running > 0:
		c.mixed++
		if plain == 0 || c.mixed%fresh == 0 {
			return 0
		}
		limit = plain * (1 + beside*max(1, float64(prompts)/float64(running)))
	case c.rest.cost(1) == 0:
		return min(room, blind)
	}
	n := max(1, sort.Search(room, func(n int) bool { return c.step(running, prompts, n+1) > limit }))
	full := c.rest.cost(room) / float64(room)
	for running > 0 && n < room && least*c.step(running, prompts, n) > float64(n)*full {
		n *= 2
	}
	return min(room, n)
}
