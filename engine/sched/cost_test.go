package sched_test

import (
	"strings"
	"testing"
	"time"

	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
)

// machine is a model whose steps take as long as a function says, by a clock of
// its own.
type machine struct {
	fakellama.Model
	cost  func(running, read int) time.Duration
	now   time.Time
	steps []step
}

type step struct {
	running, read int // answers that it continues, prompt tokens that it reads
	took, plain   time.Duration
}

// newMachine makes one for 16 sequences. Prompts are letters, answers dots.
func newMachine(answer int, cost func(running, read int) time.Duration) (*machine, *sched.Scheduler) {
	return newMachineOf(16, answer, cost)
}

func newMachineOf(parallel, answer int, cost func(running, read int) time.Duration) (*machine, *sched.Scheduler) {
	m := &machine{cost: cost}
	m.measure()
	m.Reply = func(string) string { return strings.Repeat(".", answer) }
	s := sched.New(m, sched.Options{Context: 10000, Parallel: parallel, Batch: 512, Queue: 200, Now: m.clock})
	return m, s
}

// run submits prompts and lets the scheduler work until it has answered them.
// A second round of prompts comes when the first ones are being answered.
func (m *machine) run(t *testing.T, s *sched.Scheduler, first, second []string) {
	t.Helper()
	streams := make(chan *sched.Stream, len(first)+len(second))
	ask := func(prompts []string) {
		for _, p := range prompts {
			streams <- submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, p)})
		}
	}
	ask(first)
	inner, n := m.OnDecode, 0
	m.OnDecode = func(batch []sched.Item) error {
		if n++; n == 100 {
			ask(second)
		}
		return inner(batch)
	}
	defer run(s)()
	for i := range cap(streams) {
		if _, r := read(<-streams); r.Err != nil {
			t.Errorf("request %d: %+v", i, *r)
		}
	}
}

// clock tells the time, and that a moment has gone by.
func (m *machine) clock() time.Time {
	m.now = m.now.Add(time.Microsecond)
	return m.now
}

// measure makes each step take its time.
func (m *machine) measure() {
	m.now = time.Unix(0, 0)
	m.OnDecode = func(batch []sched.Item) error {
		var st step
		for _, it := range batch {
			if it.Token == '.' {
				st.running++
			} else {
				st.read++
			}
		}
		st.took, st.plain = m.cost(st.running, st.read), m.cost(st.running, 0)
		m.now = m.now.Add(st.took)
		m.steps = append(m.steps, st)
		return nil
	}
}

const ms = float64(time.Millisecond)

// linear is a machine on which a pass takes so many milliseconds, and each token
// in it so many more. Like llama.cpp it makes a second pass for all but the
// first token of a prompt beside answers.
func linear(pass, token float64) func(running, read int) time.Duration {
	return func(running, read int) time.Duration {
		passes := 1.0
		if running > 0 && read > 1 {
			passes = 2
		}
		return time.Duration(ms * (pass*passes + token*float64(running+read)))
	}
}

func TestALongPromptHoldsUpNoAnswer(t *testing.T) {
	f := func(name string, most float64, cost func(running, read int) time.Duration) {
		t.Helper()
		m, s := newMachine(9000, cost)
		m.run(t, s, []string{strings.Repeat("hello ", 10)}, []string{strings.Repeat("x", 4000)})
		var longest float64
		var reading, alone time.Duration
		for _, st := range m.steps {
			if st.running > 0 && st.read > 0 {
				longest = max(longest, float64(st.took)/float64(st.plain))
				reading += st.took
			}
		}
		for left := 4000; left > 0; left -= 512 {
			alone += cost(0, min(left, 512))
		}
		if longest == 0 || longest >= most || reading > 10*alone {
			t.Errorf("%s: a step takes %.2f times as long, want less than %.2f; reading takes %v, alone %v", name, longest, most, reading, alone)
		}
	}
	f("tokens are dear", 2, linear(10, 5))
	f("tokens are most of the cost", 2, linear(4, 10))
	// A second pass alone takes twice as long.
	f("tokens are cheap", 2.8, linear(10, 0.2))
	f("tokens are free", 2.8, linear(10, 0.01))
}

// When all becomes slower, and quicker again, the share of reading stays.
func TestCostsThatChange(t *testing.T) {
	n := 0
	m, s := newMachine(9000, func(running, read int) time.Duration {
		n++
		slow := 1.0
		if n/2%600 > 300 { // called twice for a step
			slow = 5
		}
		return time.Duration(float64(linear(10, 1)(running, read)) * slow)
	})
	m.run(t, s, []string{"hi"}, []string{strings.Repeat("x", 4000)})
	over, mixed := 0, 0
	for _, st := range m.steps {
		if st.running > 0 && st.read > 0 {
			mixed++
			if st.took >= 2*st.plain {
				over++
			}
		}
	}
	if mixed < 100 || over > mixed/20 {
		t.Errorf("%d of %d steps took twice as long as without reading", over, mixed)
	}
}

func TestManyPromptsGetMoreOfTheTime(t *testing.T) {
	m, s := newMachine(3000, linear(5, 5))
	var crowd []string
	for i := range 15 {
		crowd = append(crowd, strings.Repeat(string(rune('a'+i)), 40))
	}
	m.run(t, s, []string{"hi"}, crowd)
	var reading time.Duration
	for _, st := range m.steps {
		if st.running > 0 && st.read > 0 {
			reading += st.took - st.plain
		}
	}
	if alone := linear(5, 5)(0, 600); reading > 2*alone {
		t.Errorf("15 prompts beside one answer took %v, want less than twice the %v that they take alone", reading, alone)
	}
}

// A step that only reads is short enough for others to come in between.
func TestReadingAloneGoesInSteps(t *testing.T) {
	m, s := newMachine(1, linear(50, 10))
	m.run(t, s, []string{strings.Repeat("x", 2000)}, nil)
	for i, st := range m.steps {
		if most := 700 * time.Millisecond; i > 3 && st.took > most && st.read != 2000%64+64 { // the rest comes with the last tile
			t.Errorf("step %d reads %d tokens in %v", i, st.read, st.took)
		}
	}
}

// A short prompt beside an answer is read in one step. Many of them, one after
// the other, leave the answer half of its speed.
func TestShortPromptsAreReadAtOnce(t *testing.T) {
	m, s := newMachineOf(2, 1, linear(5, 1))
	m.Reply = func(p string) string {
		if p[0] == 'h' {
			return strings.Repeat(".", 1000)
		}
		return ""
	}
	var short []string
	for i := range 150 {
		short = append(short, strings.Repeat(string(rune('i'+i%15)), 40)+string(rune('a'+i%7)))
	}
	m.run(t, s, []string{"hi"}, short)
	atOnce := 0
	var answering, all time.Duration
	for _, st := range m.steps {
		if st.read >= 40 {
			atOnce++
		}
		if st.running > 0 {
			all += st.took
			answering += st.plain
		}
	}
	if share := float64(answering) / float64(all); atOnce < 10 || share < 0.45 {
		t.Errorf("%d of 150 prompts were read at once, and the answer kept %.0f %% of its speed", atOnce, share*100)
	}
}
