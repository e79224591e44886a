package sched_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
)

// gate holds a model before each step until the test lets it go on.
type gate struct {
	reached chan []sched.Item // the batch about to be decoded
	next    chan struct{}
}

func hold(m *fakellama.Model) *gate {
	g := &gate{reached: make(chan []sched.Item), next: make(chan struct{})}
	m.OnDecode = func(batch []sched.Item) error {
		select {
		case g.reached <- slices.Clone(batch):
			<-g.next
		case <-g.next: // open
		}
		return nil
	}
	return g
}

// step lets the model go on to its next step and returns that one's batch.
func (g *gate) step() []sched.Item {
	g.next <- struct{}{}
	return <-g.reached
}

func (g *gate) open() { close(g.next) }

// count returns how many tokens of each sequence a batch has.
func count(batch []sched.Item) map[int]int {
	n := make(map[int]int)
	for _, it := range batch {
		n[it.Seq]++
	}
	return n
}

func TestCancelFreesThePlaceWithinOneStep(t *testing.T) {
	m := &fakellama.Model{Reply: func(p string) string { return strings.Repeat(p, 50) }}
	g := hold(m)
	s := start(t, m, sched.Options{Context: 100, Parallel: 1, Batch: 32, Queue: 10})
	ctx, cancel := context.WithCancel(t.Context())
	a := submit(t, ctx, s, sched.Request{Prompt: tokens(t, "a")})
	<-g.reached // the prompt
	g.step()    // the first token
	b := submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, "b"), MaxTokens: 2})
	cancel()
	batch := g.step()
	if len(batch) != 1 || batch[0].Token != 'b' || batch[0].Pos != 0 {
		t.Errorf("the step after the cancel decodes %+v, want the next request's prompt", batch)
	}
	g.open()
	if _, r := read(a); !errors.Is(r.Err, context.Canceled) {
		t.Errorf("cancelled: got %+v", *r)
	}
	if got, r := read(b); got != "bb" || r.Reason != sched.MaxTokens {
		t.Errorf("next: got %q, %+v", got, *r)
	}
}

func TestCancelBeforeTheFirstToken(t *testing.T) {
	m := &fakellama.Model{Reply: echo}
	g := hold(m)
	s := start(t, m, sched.Options{Context: 1000, Parallel: 1, Batch: 32, Queue: 10})
	ctx, cancel := context.WithCancel(t.Context())
	long := submit(t, ctx, s, sched.Request{Prompt: tokens(t, strings.Repeat("a", 500))})
	<-g.reached
	waiting := submit(t, ctx, s, sched.Request{Prompt: tokens(t, "w")})
	b := submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, "b")})
	cancel()
	if batch := g.step(); batch[0].Token != 'b' {
		t.Errorf("the step after the cancel decodes %+v", batch)
	}
	g.open()
	for _, st := range []*sched.Stream{long, waiting} {
		if _, r := read(st); !errors.Is(r.Err, context.Canceled) || r.Completion != 0 {
			t.Errorf("cancelled: got %+v", *r)
		}
	}
	if got, _ := read(b); got != "re: b" {
		t.Errorf("next: got %q", got)
	}
}

func TestQueueIsBounded(t *testing.T) {
	m := &fakellama.Model{Reply: echo}
	g := hold(m)
	s := start(t, m, sched.Options{Context: 100, Parallel: 1, Batch: 32, Queue: 2})
	req := sched.Request{Prompt: tokens(t, "a")}
	running := submit(t, t.Context(), s, req)
	<-g.reached
	gone, cancel := context.WithCancel(t.Context())
	left := submit(t, gone, s, req)
	waiting := submit(t, t.Context(), s, req)
	if _, err := s.Submit(t.Context(), req); !errors.Is(err, sched.ErrQueueFull) {
		t.Errorf("got %v, want ErrQueueFull", err)
	}
	cancel() // nobody waits there any more: there is room again
	instead := submit(t, t.Context(), s, req)
	g.open()
	for _, st := range []*sched.Stream{running, waiting, instead} {
		if got, r := read(st); got != "re: a" {
			t.Errorf("got %q, %+v", got, *r)
		}
	}
	if _, r := read(left); !errors.Is(r.Err, context.Canceled) {
		t.Errorf("cancelled: got %+v", *r)
	}
}

func TestAShortPromptDoesNotWaitForALongOne(t *testing.T) {
	m := &fakellama.Model{Reply: echo}
	g := hold(m)
	s := start(t, m, sched.Options{Context: 1000, Parallel: 4, Batch: 30, Queue: 10})
	submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, "x"), MaxTokens: 1})
	<-g.reached // holds the model until all three are in
	for _, p := range []string{strings.Repeat("a", 300), strings.Repeat("b", 100), "ccc"} {
		submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, p), MaxTokens: 1})
	}
	read := make(map[int32]int) // by letter
	for range 2 {
		batch := g.step()
		for i, it := range batch {
			read[it.Token]++
			if it.Logits != (it.Token == 'c' && it.Pos == 2) {
				t.Errorf("logits are asked for at %+v", it)
			}
			if i > 0 && it.Seq < batch[i-1].Seq {
				t.Errorf("the batch is not in the order of sequences")
			}
		}
		if len(batch) > 30 {
			t.Errorf("the batch has %d tokens, want at most 30", len(batch))
		}
	}
	// One step for those that are soonest done, one for those that came first.
	if read['c'] != 3 || read['a'] < 20 || read['b'] < 20 {
		t.Errorf("two steps read %d of a, %d of b, %d of c", read['a'], read['b'], read['c'])
	}
	g.open()
}

// A prompt is read in tiles of 64 tokens, but for its end, and in two equal parts
// rather than in a large and a small one where no tile fits.
func TestPromptsAreReadInTiles(t *testing.T) {
	f := func(length, batch, one, two int) {
		t.Helper()
		m := &fakellama.Model{Reply: echo}
		g := hold(m)
		s := start(t, m, sched.Options{Context: 1000, Parallel: 1, Batch: batch, Queue: 10})
		submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, strings.Repeat("a", length))})
		if a, b := len(<-g.reached), len(g.step()); a != one || b != two {
			t.Errorf("of %d tokens, %d at most, steps read %d and %d, want %d and %d", length, batch, a, b, one, two)
		}
		g.open()
	}
	f(70, 60, 35, 35)
	f(70, 64, 64, 6)
	f(200, 64, 64, 64)
	f(96, 500, 96, 1)   // what follows is the answer
	f(127, 500, 64, 63) // nothing is known yet: 64 at once
}

// No step has more tokens than fit, whichever prompts wait beside each other.
func TestStepsAreNeverTooLarge(t *testing.T) {
	const batch = 100
	rng := rand.New(rand.NewPCG(1, 2))
	m := &fakellama.Model{Reply: echo, OnDecode: func(items []sched.Item) error {
		if len(items) > batch {
			t.Errorf("a step of %d tokens, where %d fit", len(items), batch)
		}
		return nil
	}}
	s := start(t, m, sched.Options{Context: 1000, Parallel: 8, Batch: batch, Queue: 10})
	for range 100 {
		var streams []*sched.Stream
		for i := range 8 {
			text := strings.Repeat(string(rune('a'+i)), 1+rng.IntN(300))
			streams = append(streams, submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, text), MaxTokens: 1}))
		}
		for _, st := range streams {
			read(st)
		}
	}
}
