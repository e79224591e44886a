package sched_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
)

// beside is a model on which tokens are dear, with a memory aside, and a scheduler
// that is giving a long answer.
type beside struct {
	*testing.T
	m      machine
	aside  fakellama.Aside
	s      *sched.Scheduler
	answer *sched.Stream
	cancel func() // of the answer

	asked chan []int32  // what is about to be read aside
	read  chan error    // lets it be read, or fail
	alone chan bool     // whether it is alone
	most  chan struct{} // closed: everything is read at once
	once  sync.Once

	looks int           // at the clock since the latest step
	idle  chan struct{} // capacity 1: there was nothing to do, and a request has come
}

// clock is the machine's. Nobody looks at it often but who waits for requests that
// come together.
func (b *beside) clock() time.Time {
	if b.looks++; b.looks == 10 {
		select {
		case b.idle <- struct{}{}:
		default:
		}
	}
	return b.m.clock()
}

// waitIdle ends the long answer, and returns when there has been nothing to do since.
func (b *beside) waitIdle() {
	b.cancel()
	select {
	case <-b.idle: // of the beginning
	default:
	}
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	b.submit(ctx, "nobody wants this")
	<-b.idle
}

// atOnce lets everything be read from now on.
func (b *beside) atOnce() { b.once.Do(func() { close(b.most) }) }

func newBeside(t *testing.T) *beside {
	b := &beside{T: t, asked: make(chan []int32), read: make(chan error), alone: make(chan bool, 1000), most: make(chan struct{}), idle: make(chan struct{}, 1)}
	b.m.cost = linear(4, 10)
	b.m.measure()
	inner := b.m.OnDecode
	b.m.OnDecode = func(batch []sched.Item) error {
		b.looks = 0
		if len(batch) == 1 && batch[0].Token == '.' {
			time.Sleep(50 * time.Microsecond) // so that the answer is not over too soon
		}
		return inner(batch)
	}
	b.m.Reply = func(prompt string) string {
		if prompt == "hi" || prompt == known {
			return strings.Repeat(".", 1<<17)
		}
		return "re: " + prompt[len(prompt)-3:]
	}
	b.aside.Model = &b.m.Model
	b.aside.OnRead = func(pos int, tokens []int32, alone bool) error {
		select {
		case <-b.most:
			return nil
		default:
		}
		b.alone <- alone
		select {
		case b.asked <- tokens:
		case <-b.most:
			return nil
		}
		select {
		case err := <-b.read:
			return err
		case <-b.most:
			return nil
		}
	}
	return b
}

// start begins to answer.
func (b *beside) start() {
	b.Helper()
	b.s = sched.New(&b.m.Model, sched.Options{
		Context: 1 << 17, Parallel: 4, Batch: 512, Queue: 9, Aside: &b.aside, Now: b.clock,
	})
	b.Cleanup(run(b.s))
	b.Cleanup(b.atOnce)
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(b.Context())
	b.answer = submit(b.T, ctx, b.s, sched.Request{Prompt: tokens(b.T, "hi")})
	if got, r := b.answer.Next(nil); len(got) == 0 {
		b.Fatalf("no answer: %+v", r)
	}
}

func (b *beside) submit(ctx context.Context, prompt string) *sched.Stream {
	b.Helper()
	return submit(b.T, ctx, b.s, sched.Request{Prompt: tokens(b.T, prompt)})
}

// wants takes an answer to its end.
func (b *beside) wants(st *sched.Stream, text string, cached int) {
	b.Helper()
	if got, r := read(st); got != text || r.Err != nil || r.Cached != cached {
		b.Errorf("got %q, %+v, want %q and %d tokens cached", got, *r, text, cached)
	}
}

// inSteps ends the long answer and returns how many tokens of prompts, and of the
// short answers, went through steps.
func (b *beside) inSteps() (n int) {
	b.Helper()
	b.cancel()
	if _, r := read(b.answer); !errors.Is(r.Err, context.Canceled) {
		b.Errorf("the answer ended: %+v", *r)
	}
	b.wants(b.submit(b.Context(), "end"), "re: end", 0) // waits for the steps
	for _, st := range b.m.steps {
		n += st.read
	}
	return n - len("hi") - len("end")
}

var long, known = strings.Repeat("x", 3000), strings.Repeat("k", 600)

func TestALongPromptIsReadBesideAnAnswer(t *testing.T) {
	b := newBeside(t)
	b.start()
	st := b.submit(t.Context(), long+"abc")
	total := 0
	for total < len(long)+2 {
		total += len(<-b.asked)
		if got, r := b.answer.Next(nil); len(got) == 0 { // goes on
			t.Fatalf("no answer: %+v", r)
		}
		if <-b.alone {
			t.Error("it is told to be alone")
		}
		b.read <- nil
	}
	b.wants(st, "re: abc", 0)
	if n := b.inSteps(); n > 100 {
		t.Errorf("%d tokens were read in steps", n)
	}
}

func TestReadingGoesOnAloneWhenTheAnswersEnd(t *testing.T) {
	b := newBeside(t)
	b.start()
	st := b.submit(t.Context(), long+"abc")
	<-b.asked
	if <-b.alone {
		t.Error("it is told to be alone, beside an answer")
	}
	b.waitIdle()
	b.read <- nil
	<-b.asked
	if !<-b.alone {
		t.Error("it is not told that it is alone")
	}
	b.atOnce()
	b.wants(st, "re: abc", 0)
}

func TestWhatIsKnownIsNotReadAside(t *testing.T) {
	b := newBeside(t)
	b.start()
	b.atOnce()
	turn := strings.Repeat("t", 200) + "abc"
	b.wants(b.submit(t.Context(), turn), "re: abc", 0)
	b.wants(b.submit(t.Context(), turn+"re: abc"+long+"def"), "re: def", 210)
	// One waits for the other, and copies.
	one, two := b.submit(t.Context(), "1"+long+"ghi"), b.submit(t.Context(), "1"+long+"jkl")
	b.wants(one, "re: ghi", 0)
	b.wants(two, "re: jkl", 3001)
	if n := b.inSteps(); n > 500 {
		t.Errorf("%d tokens were read in steps", n)
	}
}

// What another sequence holds is copied before the rest is read aside.
func TestACopyIsMadeBeforeReadingAside(t *testing.T) {
	b := newBeside(t)
	b.start()
	b.atOnce()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if got, r := b.submit(ctx, known).Next(nil); len(got) == 0 {
		t.Fatalf("no answer: %+v", r)
	}
	b.wants(b.submit(t.Context(), known+long+"abc"), "re: abc", len(known))
}

// A short prompt does not wait for the long one that begins like it.
func TestAShortPromptDoesNotWaitForOneThatIsReadAside(t *testing.T) {
	b := newBeside(t)
	b.start()
	one := b.submit(t.Context(), known+long+"abc")
	<-b.asked
	b.wants(b.submit(t.Context(), known+"def"), "re: def", 0)
	b.read <- nil
	b.atOnce()
	b.wants(one, "re: abc", 0)
}

func TestACancelledPromptAside(t *testing.T) {
	b := newBeside(t)
	b.start()
	ctx, cancel := context.WithCancel(t.Context())
	st := b.submit(ctx, "1"+long+"abc")
	<-b.asked
	cancel()
	if _, r := read(st); !errors.Is(r.Err, context.Canceled) {
		t.Errorf("got %+v", *r)
	}
	for _, p := range []string{"abc", "def", "ghi"} { // every place is free although that part is still being read
		b.wants(b.submit(t.Context(), p), "re: "+p, 0)
	}
	next := b.submit(t.Context(), "2"+long+"jkl")
	b.read <- nil
	b.atOnce()
	b.wants(next, "re: jkl", 0)
}

func TestReadingAsideFails(t *testing.T) {
	f := func(name string, set func(b *beside)) {
		t.Run(name, func(t *testing.T) {
			b := newBeside(t)
			set(b)
			b.start()
			b.wants(b.submit(t.Context(), "1"+strings.Repeat("x", 200)+"abc"), "re: abc", 0)
			b.wants(b.submit(t.Context(), "2"+strings.Repeat("x", 200)+"def"), "re: def", 0)
			if n, want := b.inSteps(), 2*204+3*len("re: abc"); n != want {
				t.Errorf("%d tokens were read in steps, want %d", n, want)
			}
		})
	}
	f("it cannot start", func(b *beside) { b.aside.Refuses = true })
	f("it cannot finish", func(b *beside) { b.aside.Loses = true; b.atOnce() })
	f("it breaks", func(b *beside) {
		b.aside.OnRead = func(int, []int32, bool) error { return errors.New("broken") }
	})
}

func TestTheEndOfASchedulerThatReadsAside(t *testing.T) {
	b := newBeside(t)
	b.s = sched.New(&b.m.Model, sched.Options{
		Context: 1 << 17, Parallel: 4, Batch: 512, Queue: 9, Aside: &b.aside, Now: b.clock,
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { b.s.Run(ctx); close(done) }()
	b.answer = b.submit(t.Context(), "hi")
	b.answer.Next(nil)
	st := b.submit(t.Context(), long)
	<-b.asked
	cancel()
	b.read <- nil
	<-done
	if _, r := read(st); !errors.Is(r.Err, sched.ErrStopped) {
		t.Errorf("got %+v", *r)
	}
	select {
	case part := <-b.asked:
		t.Errorf("goes on with %d tokens after the end", len(part))
	default:
	}
}

// Where few processors are to be had, a prompt is read sooner in steps.
func TestAsideIsLeftAloneWhereStepsAreSooner(t *testing.T) {
	b := newBeside(t)
	b.aside.Share = 0.1
	b.aside.OnRead = func(int, []int32, bool) error {
		t.Error("a prompt is read aside")
		return nil
	}
	b.start()
	b.wants(b.submit(t.Context(), long+"abc"), "re: abc", 0)
}
