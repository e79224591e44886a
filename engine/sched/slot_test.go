package sched_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
)

// chats runs requests one after the other and checks how many tokens of each
// prompt were known.
type chats struct {
	t *testing.T
	s *sched.Scheduler
}

func (c chats) ask(prompt string, cached int) {
	c.t.Helper()
	got, r := read(submit(c.t, c.t.Context(), c.s, sched.Request{Prompt: tokens(c.t, prompt)}))
	if got != echo(prompt) || r.Reason != sched.EndOfGeneration || r.Cached != cached {
		c.t.Errorf("%.20q... (%d): got %.20q..., %+v, want %d tokens cached", prompt, len(prompt), got, *r, cached)
	}
}

func newChats(t *testing.T, m *fakellama.Model, parallel int) chats {
	m.Reply = echo
	return chats{t, start(t, m, sched.Options{Context: 4000, Parallel: parallel, Batch: 64, Queue: 100})}
}

func TestTheNextTurnReadsOnlyWhatIsNew(t *testing.T) {
	c := newChats(t, &fakellama.Model{}, 1)
	turn := strings.Repeat("once ", 50)
	c.ask(turn, 0)
	next := turn + echo(turn) + " more?"
	c.ask(next, len(turn+echo(turn)))
	c.ask(next, len(next)-1) // again: the last token is read for what follows it
	c.ask(turn+"x", len(turn))
}

func TestASequenceThatCannotBeCutIsReadAnew(t *testing.T) {
	c := newChats(t, &fakellama.Model{Recurrent: true}, 1)
	c.ask("once upon", 0)
	next := "once upon" + echo("once upon") + " a time"
	c.ask(next, len("once upon"+echo("once upon")))
	c.ask("once upon a time", 0)
}

func TestTheSlotUnusedForLongestIsTaken(t *testing.T) {
	c := newChats(t, &fakellama.Model{}, 2)
	c.ask("aaa", 0)
	c.ask("bbb", 0)
	c.ask("aaab", 3)
	c.ask("ccc", 0) // in place of bbb
	c.ask("aaabc", 4)
	c.ask("bbb", 0)
}

func TestASharedBeginningIsCopied(t *testing.T) {
	c := newChats(t, &fakellama.Model{}, 3)
	system := strings.Repeat("You are helpful. ", 10)
	first := system + strings.Repeat("Tell me of dogs. ", 20)
	c.ask(first, 0)
	c.ask(system+"Cats?", len(system))
	c.ask(system+"Birds?", len(system))
	c.ask(first+echo(first)+"More.", len(first+echo(first))) // still there
}

func TestAShortSharedBeginningIsNotCopied(t *testing.T) {
	c := newChats(t, &fakellama.Model{}, 2)
	c.ask(strings.Repeat("a", 12)+strings.Repeat("b", 200), 0)
	c.ask(strings.Repeat("a", 12)+"c", 0)
}

func TestAPromptOfManyIsReadOnce(t *testing.T) {
	m := &fakellama.Model{Reply: echo}
	g := hold(m)
	s := start(t, m, sched.Options{Context: 1000, Parallel: 4, Batch: 64, Queue: 10})
	p := strings.Repeat("long ", 40)
	streams := []*sched.Stream{submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, p+"0")})}
	<-g.reached
	for i := 1; i < 4; i++ {
		streams = append(streams, submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, fmt.Sprint(p, i))}))
	}
	for range 2 { // the rest of the prompt, and what follows that
		if n := count(g.step()); n[1]+n[2]+n[3] > 0 {
			t.Errorf("what another request reads was read again: %v", n)
		}
	}
	g.open()
	for i, st := range streams {
		want := len(p)
		if i == 0 {
			want = 0
		}
		if got, r := read(st); got != echo(fmt.Sprint(p, i)) || r.Cached != want {
			t.Errorf("request %d: got %.20q..., %+v, want %d tokens cached", i, got, *r, want)
		}
	}
}

func TestWhoWaitsForAPromptReadsItWhenItsReaderLeaves(t *testing.T) {
	m := &fakellama.Model{Reply: echo}
	g := hold(m)
	s := start(t, m, sched.Options{Context: 1000, Parallel: 2, Batch: 64, Queue: 10})
	p := strings.Repeat("long ", 40)
	ctx, cancel := context.WithCancel(t.Context())
	reader := submit(t, ctx, s, sched.Request{Prompt: tokens(t, p+"0")})
	<-g.reached // 64 tokens
	waiting := submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, p+"1")})
	g.step() // 128 tokens
	cancel()
	g.open()
	if _, r := read(reader); !errors.Is(r.Err, context.Canceled) {
		t.Errorf("got %+v", *r)
	}
	if got, r := read(waiting); got != echo(p+"1") || r.Cached != 128 {
		t.Errorf("got %.20q..., %+v, want what was read until then cached", got, *r)
	}
}

func TestAFailedDecodeIsForgotten(t *testing.T) {
	m := &fakellama.Model{}
	c := newChats(t, m, 1)
	c.ask("aaa", 0)
	fail := true
	m.OnDecode = func([]sched.Item) error {
		if fail {
			fail = false
			return errors.New("out of order")
		}
		return nil
	}
	if _, r := read(submit(t, t.Context(), c.s, sched.Request{Prompt: tokens(t, "aaab")})); r.Err == nil {
		t.Errorf("got %+v", *r)
	}
	c.ask("aaab", 0)
}

// Prompts that begin alike in all ways, some of them cancelled: the answers
// are those that each gets alone.
func TestSharingNeverMixesAnswers(t *testing.T) {
	for _, recurrent := range []bool{false, true} {
		m := &fakellama.Model{Reply: func(p string) string { return fmt.Sprint(len(p), p[len(p)-1:]) }, Recurrent: recurrent}
		s := start(t, m, sched.Options{Context: 1000, Parallel: 4, Batch: 32, Queue: 1000})
		base := strings.Repeat("abcdefgh", 100)
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), 7))
				p := base[:1+rng.IntN(400)] + strings.Repeat("z", rng.IntN(100)) + "."
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				st, err := s.Submit(ctx, sched.Request{Prompt: tokens(t, p)})
				if err != nil {
					t.Error(err)
					return
				}
				if i%5 == 0 {
					cancel()
				}
				if got, r := read(st); r.Err == nil && got != m.Reply(p) || r.Err != nil && i%5 != 0 {
					t.Errorf("request %d: got %q, %+v, want %q", i, got, *r, m.Reply(p))
				}
			})
		}
		wg.Wait()
	}
}

// Of the slots unused for longest a new request takes one beside others: llama.cpp
// computes those in one pass.
func TestANewRequestIsPlacedBesideOthers(t *testing.T) {
	const slots = 8
	length := []int{2000, 20, 30, 10, 40, 2000, 50, 60} // of the answers, by slot
	few, placed := make(chan struct{}), make(chan int, slots)
	two := false
	m := &fakellama.Model{
		Reply: func(prompt string) string {
			if i := int(prompt[0] - 'a'); i < slots {
				return strings.Repeat("x", length[i])
			}
			return strings.Repeat("x", 2000)
		},
		OnDecode: func(batch []sched.Item) error {
			for _, it := range batch {
				if two && it.Pos == 0 {
					placed <- it.Seq
				}
			}
			if !two && len(batch) == 2 {
				two = true
				few <- struct{}{} // and waits until
				<-few
			}
			return nil
		},
	}
	s := sched.New(m, sched.Options{Context: 2100, Parallel: slots, Batch: 64, Queue: 100})
	for i := range slots {
		submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, string(rune('a'+i)))})
	}
	t.Cleanup(run(s))
	<-few // 3, 1, 2, 4, 6 and 7 are free, in this order since when
	for i := range 2 {
		submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, string(rune('p'+i)))})
	}
	close(few)
	for _, want := range []int{1, 2} {
		if got := <-placed; got != want {
			t.Errorf("placed in %d, want %d", got, want)
		}
	}
}
