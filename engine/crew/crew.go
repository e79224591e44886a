// Package crew chooses how many threads compute a step, by trying. The threads
// of llama.cpp wait for each other by spinning, hundreds of times in a step: on
// an idle machine each one helps, but as soon as another program wants one of
// their processors, all of them wait for the one that lost it, and several may
// take a multiple of what one alone takes. How many are best is thus a fact of
// the minute, and nobody can tell it but the clock.
//
// Now and then the next higher or lower number is tried, in steps that take
// turns with steps of the number in use, so that both meet the same machine.
// Trials may cost a small share of the time and no more; a change in how long
// steps take brings one about. Where others are seen to want the processors there
// are at once so few as there is room for.
package crew

import "time"

// Crew is the number of threads for one kind of step. Create it with New. It is
// not safe for concurrent use.
type Crew struct {
	full   func(threads int) bool
	ladder []int // the numbers to choose from, growing
	at     int   // the one in use
	up     bool  // the next trial is of the one above
	top    int   // the one in use before others came, if above at

	usual, lately average
	tokens        int           // of the latest step
	since, rest   time.Duration // computed since the latest trial, and to be computed until the next
	lost          int           // trials in a row that brought nothing
	won           bool          // the latest trial brought something
	trial         trial
}

// trial compares a number of threads with the one in use.
type trial struct {
	at     int  // place in the ladder; -1: no trial
	woken  bool // the first step, in which further threads are woken, is over
	steps  int  // odd ones are of the number in use
	tokens int
	usual  float64 // seconds per token before
	old    float64 // seconds per token of the number in use
	new    float64
	costs  time.Duration // of the steps with the new number
}

const (
	// A trial has so many pairs of steps. It ends early if one of the numbers is far
	// better, and at once if fewer threads are worse beyond doubt.
	pairs, early = 6, 2
	far, doubt   = 1.3, 1.5
	// awful is how many times as long as usual one step must take to say all.
	awful = 3
	// wake is how long a first step with more threads may take and not count: the
	// new ones had to be woken.
	wake = 20 * time.Millisecond
	// gain is by how much more threads must be quicker to be taken. Fewer are
	// taken if they are as quick.
	gain = 1.05
	// share of the time is what trials may cost, where soon is the time until a
	// second one, and late until one of many that all brought nothing.
	share = 64
	soon  = 500 * time.Millisecond
	late  = 16
)

// New returns a crew of start threads, that may become any number up to most.
// If full is not nil it tells whether other programs keep the processors so busy
// that so many threads are too many: a single step with one too many may take a
// hundred times as long. It is asked before each step.
func New(start, most int, full func(threads int) bool) *Crew {
	// The first steps find nothing in caches: they say little, but not for long.
	c := &Crew{full: full, trial: trial{at: -1}, up: true, rest: soon / 8}
	for n := 1; n < most; n += max(1, n/2) { // 1 2 3 4 6 9 13 ...
		c.ladder = append(c.ladder, n)
	}
	c.ladder = append(c.ladder, most)
	for c.at+1 < len(c.ladder) && c.ladder[c.at+1] <= start {
		c.at++
	}
	return c
}

// Threads returns how many threads are to compute the next step.
func (c *Crew) Threads() int {
	// Beside others a lower number is the one in use, until they are gone or a trial
	// shows that another one is better.
	if was := c.at; c.crowded(c.at) || c.top > c.at {
		c.top = max(c.top, c.at)
		for c.at = c.top; c.at > 0 && c.crowded(c.at); {
			c.at--
		}
		if c.at != was {
			c.lost = 0
			c.end(soon)
		}
	}
	if c.trial.at >= 0 && c.crowded(c.trial.at) {
		c.lost = min(c.lost+1, late)
		c.end(soon * time.Duration(c.lost))
	}
	if c.trial.at >= 0 && c.trial.steps%2 == 0 {
		return c.ladder[c.trial.at]
	}
	return c.ladder[c.at]
}

// Took tells that the step for which Threads was called had so many tokens and
// took so long.
func (c *Crew) Took(tokens int, d time.Duration) {
	if len(c.ladder) == 1 || tokens <= 0 {
		return
	}
	each := d.Seconds() / float64(tokens)
	if !alike(tokens, c.tokens) {
		c.usual, c.lately = 0, 0 // a token of another batch costs something else
	}
	c.tokens = tokens
	if c.trial.at >= 0 {
		c.tried(tokens, each, d)
		return
	}
	c.since += d
	if c.usual > 0 && each > awful*float64(c.usual) && c.at > 0 {
		c.flee()
		return
	}
	c.usual.add(each, 32)
	c.lately.add(each, 4)
	switch changed := c.lately / c.usual; {
	case changed > 1.4 && c.since > max(c.rest/8, share/4*d) && c.at > 0:
		c.lost = 0
		c.begin(c.at - 1)
	case changed < 0.75 && c.since > c.rest/8 && c.mayGrow():
		c.lost = 0
		c.begin(c.at + 1)
	case c.since > c.rest:
		c.try(d)
	}
}

// alike reports whether batches of a and b tokens may be compared by the token.
func alike(a, b int) bool { return a*4 <= b*5 && b*4 <= a*5 }

// apart reports whether one of a and b is more than so many times the other.
func apart(a, b, times float64) bool { return a > b*times || b > a*times }

// crowded reports whether others leave no room for that many threads.
func (c *Crew) crowded(at int) bool { return c.full != nil && c.full(c.ladder[at]) }

// mayGrow reports whether more threads can be tried.
func (c *Crew) mayGrow() bool { return c.at+1 < len(c.ladder) && !c.crowded(c.at+1) }

// try begins a trial of the number above or below, whose turn it is, or else of
// the other one. Steps take about d. Unless fewer have just turned out better,
// they are not tried after a few long steps: the trial could take longer than
// the rest of the prompt.
func (c *Crew) try(d time.Duration) {
	c.up = (c.up || c.at == 0) && c.mayGrow()
	switch {
	case c.up:
		c.begin(c.at + 1)
	case c.at == 0:
		c.since, c.rest = 0, soon
	case c.won || c.since > share/8*d:
		c.begin(c.at - 1)
	}
}

func (c *Crew) begin(at int) {
	c.trial, c.won = trial{at: at, tokens: c.tokens, usual: float64(c.usual)}, false
}

// tried takes in a step of a trial.
func (c *Crew) tried(tokens int, each float64, d time.Duration) {
	t := &c.trial
	if !alike(tokens, t.tokens) { // there is nothing to compare any more
		rest := share / 2 * (t.costs + d)
		if t.at > c.at { // which cost nothing, unless others are there
			c.lost = min(c.lost+1, late)
			rest = 2 * max(soon, d) * time.Duration(c.lost)
		}
		c.end(rest)
		return
	}
	if t.at > c.at && !t.woken && d < wake {
		t.woken = true
		t.costs += d
		return
	}
	if t.steps++; t.steps%2 == 1 {
		t.new += each
		t.costs += d
		if t.usual > 0 && each > awful*t.usual {
			t.old = t.usual * float64((t.steps+1)/2)
			c.lose()
		}
		return
	}
	t.old += each
	n := t.steps / 2
	switch {
	case t.at < c.at && t.new > doubt*t.old:
		c.lose()
	case !apart(t.new, t.old, awful) && (n < early || n < pairs && !apart(t.new, t.old, far)):
	case t.at > c.at && t.new*gain < t.old, t.at < c.at && t.new <= t.old:
		c.at, c.won, c.top = t.at, true, 0
		c.end(0)
		c.lost = 0
	default:
		c.lose()
	}
}

// flee halves the number at once: one step was so slow that there must be no
// second one. If that was an accident, trials of more follow.
func (c *Crew) flee() {
	half := c.ladder[c.at] / 2
	for c.at > 0 && c.ladder[c.at] > half {
		c.at--
	}
	c.up, c.lost, c.top = true, 0, 0
	c.end(soon)
}

// lose ends a trial of a number that is not taken.
func (c *Crew) lose() {
	t := &c.trial
	c.lost = min(c.lost+1, late)
	c.up = !c.up
	extra := time.Duration(float64(t.costs) * max(0, t.new-t.old) / t.new)
	rest, times := extra*share, time.Duration(c.lost)
	if t.at < c.at { // when fewer would be better steps become slower, which is noticed
		rest *= times
	}
	c.end(max(rest, soon*times))
}

// end ends a trial. The next may begin after rest.
func (c *Crew) end(rest time.Duration) {
	c.trial.at = -1
	c.since, c.rest = 0, rest
	c.usual, c.lately = 0, 0
}

// average is one over the latest steps, of which there are about so many.
type average float64

func (a *average) add(x float64, steps float64) {
	if *a == 0 {
		*a = average(x)
	}
	*a += (average(x) - *a) / average(steps)
}
