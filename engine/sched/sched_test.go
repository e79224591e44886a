package sched_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dragoman/engine/fakellama"
	"dragoman/engine/prompt"
	"dragoman/engine/sample"
	"dragoman/engine/sched"
)

// start runs a scheduler on m until the test ends.
func start(t *testing.T, m *fakellama.Model, opt sched.Options) *sched.Scheduler {
	t.Helper()
	s := sched.New(m, opt)
	t.Cleanup(run(s))
	return s
}

// run starts a scheduler and returns what stops it.
func run(s *sched.Scheduler) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

var small = sched.Options{Context: 100, Parallel: 4, Batch: 32, Queue: 100}

func tokens(t *testing.T, text string) []int32 {
	t.Helper()
	ids, err := new(fakellama.Model).Tokenize([]prompt.Piece{{Text: text}})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// read takes a stream to its end and returns its text.
func read(st *sched.Stream) (string, *sched.Result) {
	var (
		ids    []sample.Token
		result *sched.Result
	)
	for result == nil {
		ids, result = st.Next(ids)
	}
	var text []byte
	for _, t := range ids {
		text = new(fakellama.Model).Piece(text, t.ID)
	}
	return string(text), result
}

func echo(prompt string) string { return "re: " + prompt }

func submit(t *testing.T, ctx context.Context, s *sched.Scheduler, req sched.Request) *sched.Stream {
	t.Helper()
	st, err := s.Submit(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestHowAnswersEnd(t *testing.T) {
	s := start(t, &fakellama.Model{Reply: echo}, small)
	f := func(req sched.Request, want string, reason sched.Reason) {
		t.Helper()
		got, r := read(submit(t, t.Context(), s, req))
		if got != want || r.Reason != reason || r.Err != nil || r.Completion != len(want) {
			t.Errorf("got %q, %+v, want %q and %s", got, *r, want, reason)
		}
	}
	f(sched.Request{Prompt: tokens(t, "hi")}, "re: hi", sched.EndOfGeneration)
	f(sched.Request{Prompt: tokens(t, "hi"), MaxTokens: 7}, "re: hi", sched.EndOfGeneration)
	f(sched.Request{Prompt: tokens(t, "hi"), MaxTokens: 6}, "re: hi", sched.MaxTokens)
	f(sched.Request{Prompt: tokens(t, "hi"), MaxTokens: 1}, "r", sched.MaxTokens)
	f(sched.Request{Prompt: tokens(t, "hi"), Stop: []int32{' ', ':'}}, "re", sched.StopToken)
	f(sched.Request{Prompt: tokens(t, strings.Repeat("x", 99))}, "r", sched.ContextFull)
	f(sched.Request{Prompt: tokens(t, strings.Repeat("x", 98)), MaxTokens: 3}, "re", sched.ContextFull)
	f(sched.Request{Prompt: tokens(t, strings.Repeat("x", 98)), MaxTokens: 2}, "re", sched.MaxTokens)
}

func TestTooLongAPrompt(t *testing.T) {
	s := start(t, &fakellama.Model{}, small)
	for _, n := range []int{100, 101, 5000} {
		_, err := s.Submit(t.Context(), sched.Request{Prompt: make([]int32, n)})
		var tooLong *sched.ContextError
		if !errors.As(err, &tooLong) || tooLong.Context != 100 || tooLong.Prompt != n {
			t.Errorf("%d tokens: got %v", n, err)
		}
	}
}

func TestManyAtOnceKeepApart(t *testing.T) {
	s := start(t, &fakellama.Model{Reply: echo}, small)
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			p := strings.Repeat(fmt.Sprint(i, " "), 1+i%13)
			st, err := s.Submit(t.Context(), sched.Request{Prompt: tokens(t, p)})
			if err != nil {
				t.Error(err)
				return
			}
			if got, r := read(st); got != echo(p) || r.Reason != sched.EndOfGeneration {
				t.Errorf("request %d: got %q, %+v", i, got, *r)
			}
		})
	}
	wg.Wait()
}

func TestAFailedDecodeEndsItsRequests(t *testing.T) {
	fail := errors.New("out of order")
	first := true
	m := &fakellama.Model{Reply: echo, OnDecode: func([]sched.Item) error {
		defer func() { first = false }()
		if first {
			return fail
		}
		return nil
	}}
	s := start(t, m, small)
	if _, r := read(submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, "a")})); !errors.Is(r.Err, fail) || r.Reason != "" {
		t.Errorf("got %+v", *r)
	}
	if got, r := read(submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, "b")})); got != "re: b" || r.Err != nil {
		t.Errorf("the next request got %q, %+v", got, *r)
	}
}

func TestNobodyWaitsForAnothersMany(t *testing.T) {
	m := &fakellama.Model{Reply: echo}
	g := hold(m)
	s := start(t, m, sched.Options{Context: 100, Parallel: 2, Batch: 32, Queue: 10})
	var order []string
	m.Reply = func(p string) string {
		order = append(order, p)
		return ""
	}
	var streams []*sched.Stream
	ask := func(client, prompt string) {
		streams = append(streams, submit(t, t.Context(), s, sched.Request{Client: client, Prompt: tokens(t, prompt)}))
	}
	ask("greedy", "g1")
	<-g.reached
	for _, p := range []string{"g2", "g3", "g4"} {
		ask("greedy", p)
	}
	ask("modest", "m1")
	ask("", "x1")
	g.open()
	for _, st := range streams {
		read(st)
	}
	at := func(p string) int { return slices.Index(order, p) }
	if at("m1") > at("g3") || at("x1") > at("g4") {
		t.Errorf("the order is %s", order)
	}
}

func TestStopping(t *testing.T) {
	m := &fakellama.Model{Reply: echo}
	gate := hold(m)
	s := sched.New(m, sched.Options{Context: 100, Parallel: 1, Batch: 32, Queue: 10})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	running := submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, "a")})
	waiting := submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, "b")})
	<-gate.reached
	cancel()
	gate.open()
	<-done
	for _, st := range []*sched.Stream{running, waiting} {
		if _, r := read(st); !errors.Is(r.Err, sched.ErrStopped) {
			t.Errorf("got %+v, want ErrStopped", *r)
		}
	}
	if _, err := s.Submit(t.Context(), sched.Request{Prompt: tokens(t, "c")}); !errors.Is(err, sched.ErrStopped) {
		t.Errorf("Submit afterwards: got %v", err)
	}
}

// Requests that come right after each other begin in one step, also where
// nothing was going on before.
func TestRequestsThatComeTogetherBeginTogether(t *testing.T) {
	var s *sched.Scheduler
	var batches [][]sched.Item
	m := &fakellama.Model{Reply: echo, OnDecode: func(batch []sched.Item) error {
		batches = append(batches, slices.Clone(batch))
		return nil
	}}
	now, looks := time.Unix(0, 0), 0
	streams := make(chan *sched.Stream, 3)
	s = sched.New(m, sched.Options{Context: 100, Parallel: 4, Batch: 32, Queue: 100, Now: func() time.Time {
		now = now.Add(40 * time.Microsecond)
		switch looks++; looks {
		case 1, 3, 6: // there is nothing to do; soon after that; soon after that
			streams <- submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, fmt.Sprint(looks)), MaxTokens: 1})
		}
		return now
	}})
	stop := run(s)
	for range 3 {
		read(<-streams)
	}
	stop()
	if len(batches[0]) != 3 {
		t.Errorf("the first step reads %v, want all three requests", batches[0])
	}
}

// Where the first step takes long, it also waits for requests that come a little
// later, but not for ever.
func TestALongFirstStepWaitsForMore(t *testing.T) {
	f := func(later, took time.Duration, together bool) {
		t.Helper()
		var s *sched.Scheduler
		var batches [][]sched.Item
		var mu sync.Mutex // over the clock, and when the second request comes
		now, second := time.Unix(0, 0), time.Time{}
		m := &fakellama.Model{Reply: echo, OnDecode: func(batch []sched.Item) error {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(took)
			batches = append(batches, slices.Clone(batch))
			return nil
		}}
		ask := func(text string) *sched.Stream {
			return submit(t, t.Context(), s, sched.Request{Prompt: tokens(t, text), MaxTokens: 1})
		}
		two := make(chan *sched.Stream, 1)
		s = sched.New(m, sched.Options{Context: 100, Parallel: 4, Batch: 32, Queue: 100, Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(10 * time.Microsecond)
			if !second.IsZero() && now.After(second) {
				second = time.Time{}
				two <- ask("two")
			}
			return now
		}})
		stop := run(s)
		read(ask("first")) // from which it knows what a step takes
		mu.Lock()
		second = now.Add(later)
		mu.Unlock()
		read(ask("one"))
		read(<-two)
		stop()
		if got := len(batches[1]) == 6; got != together {
			t.Errorf("%v after the first, steps of %v: together %v, want %v", later, took, got, together)
		}
	}
	f(time.Millisecond, 200*time.Millisecond, true)
	f(time.Millisecond, 5*time.Millisecond, false)
	f(5*time.Millisecond, 2*time.Second, false)
}
