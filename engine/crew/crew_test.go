package crew

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// machine tells how long a step takes with so many threads.
type machine func(threads int) float64 // milliseconds

// idle has cores; a fifth of the work cannot be shared.
func idle(cores int) machine {
	return func(n int) float64 { return 10 * (0.2 + 0.8/float64(min(n, cores)) + 0.5*float64(max(0, n-cores))) }
}

// busy has free cores, and others that other programs want.
func busy(free int) machine {
	return func(n int) float64 {
		if n <= free {
			return idle(free)(n)
		}
		return 12 + 20*float64(n-free)
	}
}

// work runs steps for a while of computing and returns how long that would
// have taken with the best number, as a share.
func work(c *Crew, m machine, most int, noise float64, tokens func(i int) int, seconds float64) float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	best := m(1)
	for n := range most {
		best = min(best, m(n+1))
	}
	took, ideal := 0.0, 0.0
	for i := 0; took < seconds*1000; i++ {
		k := tokens(i)
		factor := (0.5 + 0.5*float64(k)) * (1 + noise*rng.ExpFloat64())
		t := m(c.Threads()) * factor
		c.Took(k, time.Duration(t*1e6))
		took += t
		ideal += best * factor
	}
	return ideal / took
}

func one(int) int { return 1 }

func TestFindsTheBestNumber(t *testing.T) {
	for _, most := range []int{1, 2, 4, 8, 16} {
		for _, start := range []int{1, most} {
			for _, free := range []int{0, 1, 2, 5, most} {
				m, name := idle(most), "idle"
				if free < most {
					m, name = busy(max(free, 1)), fmt.Sprint(free, " free")
				}
				for _, noise := range []float64{0, 0.3} {
					c := New(start, most, nil)
					work(c, m, most, noise, one, 10)
					if got := work(c, m, most, noise, one, 30); got < 0.88 {
						t.Errorf("%d processors, %s, noise %g, from %d: %.0f %% of the best speed, with %d threads",
							most, name, noise, start, got*100, c.Threads())
					}
				}
			}
		}
	}
}

func TestTrialsCostLittle(t *testing.T) {
	for name, m := range map[string]machine{"idle": idle(2), "busy": busy(1)} {
		c := New(1, 2, nil)
		work(c, m, 2, 0, one, 10)
		if got := work(c, m, 2, 0, one, 100); got < 0.98 {
			t.Errorf("%s: %.1f %% of the best speed", name, got*100)
		}
	}
}

func TestNoticesChanges(t *testing.T) {
	for _, noise := range []float64{0, 0.3} {
		c := New(2, 2, nil)
		for i := range 6 {
			m, name, want := idle(2), "idle", 0.85
			if i%2 == 1 {
				m, name, want = busy(1), "busy", 0.9
			}
			if got := work(c, m, 2, noise, one, 20); got < want {
				t.Errorf("period %d, %s, noise %g: %.0f %% of the best speed", i, name, noise, got*100)
			}
		}
	}
}

// From the first busy step on it takes less than a second until one thread is left.
func TestGivesWayAtOnce(t *testing.T) {
	c := New(2, 2, nil)
	work(c, idle(2), 2, 0, one, 10)
	took := 0.0
	for c.Threads() > 1 || c.trial.at >= 0 {
		x := busy(1)(c.Threads())
		c.Took(1, time.Duration(x*1e6))
		if took += x; took > 1000 {
			t.Fatal("two threads still compute after a second")
		}
	}
}

func TestBatchesThatChange(t *testing.T) {
	c := New(1, 2, nil)
	tokens := func(i int) int { return 1 + i/3%8 }
	work(c, busy(1), 2, 0, tokens, 10)
	if got := work(c, busy(1), 2, 0, tokens, 50); got < 0.93 {
		t.Errorf("busy: %.0f %% of the best speed", got*100)
	}
	work(c, idle(2), 2, 0, tokens, 10)
	if got := work(c, idle(2), 2, 0, tokens, 50); got < 0.93 {
		t.Errorf("idle: %.0f %% of the best speed", got*100)
	}
}

// Sizes that change with each step leave nothing to compare.
func TestBatchesThatChangeEachTime(t *testing.T) {
	sizes := []int{64, 128, 256, 512, 100, 320}
	c := New(1, 2, nil)
	if got := work(c, busy(1), 2, 0, func(i int) int { return sizes[i%6] }, 300); got < 0.9 {
		t.Errorf("busy: %.0f %% of the best speed", got*100)
	}
	c = New(1, 2, nil)
	if got := work(c, full, 2, 0, func(i int) int { return 1 << (i % 3) }, 300); got < 0.85 {
		t.Errorf("full: %.0f %% of the best speed", got*100)
	}
}

// Where others leave room for some threads, trials still find that fewer are better.
func TestFewerThanThereIsRoomFor(t *testing.T) {
	c := New(4, 4, func(n int) bool { return n > 3 })
	work(c, busy(2), 4, 0, one, 20)
	if got := work(c, busy(2), 4, 0, one, 60); got < 0.95 {
		t.Errorf("%.0f %% of the best speed, with %d threads", got*100, c.Threads())
	}
}

func TestOneProcessor(t *testing.T) {
	c := New(1, 1, nil)
	for range 1000 {
		if c.Threads() != 1 {
			t.Fatal("more threads than processors")
		}
		c.Took(1, time.Millisecond)
	}
}

// Two threads on a machine that is full take a hundred times as long.
func full(n int) float64 { return 10 * math.Pow(100, float64(n-1)) }

func TestAFullMachine(t *testing.T) {
	c := New(1, 2, nil)
	if got := work(c, full, 2, 0.3, one, 200); got < 0.95 {
		t.Errorf("%.0f %% of the best speed", got*100)
	}
	c = New(1, 2, func(int) bool { return true })
	for range 10000 {
		if c.Threads() > 1 {
			t.Fatal("two threads are tried where not one processor is free")
		}
		c.Took(1, 10*time.Millisecond)
	}
	c = New(2, 2, nil)
	work(c, idle(2), 2, 0, one, 10)
	c.Took(1, time.Second) // one step is enough
	if c.Threads() != 1 {
		t.Error("two threads go on")
	}
}

// Threads give way as soon as others are seen to want their processors, in a
// trial too, and come back when those are gone.
func TestGivesWayToOthers(t *testing.T) {
	others := false
	c := New(4, 4, func(n int) bool { return others && n > 1 })
	for i := range 100 {
		others = false
		if got := work(c, idle(4), 4, 0, one, 1+float64(i)/100); got < 0.95 {
			t.Errorf("%.0f %% of the best speed on an idle machine", got*100)
		}
		others = true
		if got := work(c, full, 4, 0, one, 2); got < 1 {
			t.Errorf("%.0f %% of the best speed on a full one", got*100)
		}
	}
}

// One step of half the threads says that they are worse where they take nearly
// twice as long.
func TestFewerThatAreMuchWorseAreTriedForOneStep(t *testing.T) {
	c, fewer := New(2, 2, nil), 0
	for range 60 {
		n := c.Threads()
		if n < 2 {
			fewer++
		}
		c.Took(1, time.Duration(100e6/n))
	}
	if fewer != 1 {
		t.Errorf("%d of 60 steps had one thread", fewer)
	}
}

// Threads that sleep must be woken, which takes longer than a short step.
func TestTheFirstStepOfATrialDoesNotCount(t *testing.T) {
	c, before, took := New(1, 2, nil), 1, 0.0
	for took < 5000 && c.Threads() < 2 || c.trial.at >= 0 {
		n := c.Threads()
		x := idle(2)(n) / 10
		if n > before {
			x += 5
		}
		before = n
		c.Took(1, time.Duration(x*1e6))
		took += x
		if c.trial.at >= 0 && c.trial.steps > 0 {
			before = 2 // awake from now on
		}
	}
	if c.Threads() != 2 {
		t.Error("two threads are not taken")
	}
}

// Prompts are read in a few long steps of different sizes. A trial of fewer
// threads in one of them takes longer than most prompts, so there are few.
func TestPromptsAreHardlyEverTrials(t *testing.T) {
	c, fewer := New(2, 2, nil), 0
	for i := range 300 {
		n := c.Threads()
		if n < 2 {
			fewer++
			if i < 6 {
				t.Errorf("a trial in step %d", i)
			}
		}
		tokens := 250 + 97*(i%5)
		c.Took(tokens, time.Duration(float64(tokens)*idle(2)(n)/5*1e6))
	}
	if fewer > 10 {
		t.Errorf("%d of 300 steps had one thread", fewer)
	}
}
