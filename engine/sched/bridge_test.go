package sched_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
)

// passes counts the runs of sequences in a batch whose numbers follow each other.
func passes(batch []sched.Item) (n int) {
	for i, it := range batch {
		if i == 0 || it.Seq > batch[i-1].Seq+1 {
			n++
		}
	}
	return n
}

// gaps answers four prompts at once, of which the middle two are done early, on
// a machine where a pass takes 10 ms and each token in it 1 ms. It returns the
// scheduler, and how many steps with two answers had one pass and how many two.
func gaps(t *testing.T, m *fakellama.Model) (s *sched.Scheduler, one, two *int) {
	t.Helper()
	one, two = new(int), new(int)
	now := time.Unix(0, 0)
	m.Reply = func(p string) string {
		if p[0] == 'a' || p[0] == 'd' {
			return strings.Repeat(p[:1], 300)
		}
		return strings.Repeat(p[:1], 60)
	}
	m.OnDecode = func(batch []sched.Item) error {
		now = now.Add(time.Duration(10*passes(batch)+len(batch)) * time.Millisecond)
		logits := 0
		for _, it := range batch {
			if it.Logits {
				logits++
			}
		}
		switch {
		case logits == 2 && passes(batch) == 1:
			*one++
		case logits == 2:
			*two++
		}
		return nil
	}
	s = sched.New(m, sched.Options{Context: 400, Parallel: 4, Batch: 64, Queue: 10, Now: func() time.Time {
		now = now.Add(time.Microsecond)
		return now
	}})
	var streams []*sched.Stream
	for _, p := range []string{"a prompt", "b prompt", "c prompt", "d prompt"} {
		streams = append(streams, submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, p)}))
	}
	t.Cleanup(run(s))
	for i, st := range streams {
		want := 300
		if i == 1 || i == 2 {
			want = 60
		}
		if got, r := read(st); got != strings.Repeat(string("abcd"[i]), want) {
			t.Errorf("answer %d: got %.20q..., %+v", i, got, *r)
		}
	}
	return s, one, two
}

func TestGapsBetweenAnswersAreClosed(t *testing.T) {
	s, one, two := gaps(t, &fakellama.Model{})
	if *one < 200 || *two > 20 {
		t.Errorf("%d steps with two answers had one pass, %d had two", *one, *two)
	}
	for _, p := range []string{"b prompt", "c prompt"} { // what was held there still is
		more := p + strings.Repeat(p[:1], 60) + "?"
		if got, r := read(submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, more)})); r.Cached < len(more)-2 || got[:1] != p[:1] {
			t.Errorf("%s: got %.10q..., %+v", p, got, *r)
		}
	}
}

func TestAModelThatCannotForgetATokenClosesNoGaps(t *testing.T) {
	_, one, two := gaps(t, &fakellama.Model{Recurrent: true})
	if *one > 20 || *two < 200 {
		t.Errorf("%d steps with two answers had one pass, %d had two", *one, *two)
	}
}

func TestAFailedStepThatClosedAGap(t *testing.T) {
	m := &fakellama.Model{}
	s, _, _ := gaps(t, m)
	m.OnDecode = func(batch []sched.Item) error {
		if len(batch) == 4 && batch[0].Logits && !batch[1].Logits && !batch[2].Logits && batch[3].Seq == 3 {
			return errors.New("broken")
		}
		return nil
	}
	broken := 0
	for i := range 20 {
		var streams []*sched.Stream
		for _, p := range []string{"a", "b", "d"} {
			streams = append(streams, submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, fmt.Sprint(p, i))}))
		}
		for _, st := range streams {
			_, r := read(st)
			if r.Err != nil && r.Err.Error() != "decoding 4 tokens: broken" {
				t.Fatalf("round %d: %+v", i, *r)
			}
			if r.Err != nil {
				broken++
			}
		}
	}
	if broken == 0 {
		t.Error("no such step failed")
	}
}
