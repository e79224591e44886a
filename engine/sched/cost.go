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

// fit returns how many tokens take no longer than t, at least one.
func (c *curve) fit(t float64) int {
	return max(1, sort.Search(1<<len(c), func(n int) bool { return c.cost(n+1) > t }))
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
// through the model, each with equally many tokens of the sequences in it: where
// answers go on, the first takes one token of all, and a second one the rest of
// the prompts.
type costs struct{ pass curve }

// step returns what a step takes that reads so many tokens of so many prompts,
// besides continuing so many answers, or 0 if nothing is known.
func (c *costs) step(running, prompts, read int) float64 {
	first, second := passes(running, prompts, read)
	return c.pass.cost(first) + c.pass.cost(second)
}

// learn takes in how long such a step took.
func (c *costs) learn(running, prompts, read int, t float64) {
	first, second := passes(running, prompts, read)
	if second == 0 {
		c.pass.learn(first, t, 1./2)
		return
	}
	// Only steps of one pass tell which of two is to blame.
	a, b := c.pass.cost(first), c.pass.cost(second)
	c.pass.learn(first, t*a/(a+b), 1./8)
	c.pass.learn(second, t*b/(a+b), 1./4)
}

// passes returns the sizes of a step's passes.
func passes(running, prompts, read int) (first, second int) {
	if running == 0 {
		return read, 0
	}
	prompts = min(prompts, read)
	return running + prompts, read - prompts
}
