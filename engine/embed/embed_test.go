package embed_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"dragoman/engine/embed"
	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
)

// runner starts a Runner that ends with the test.
func runner(t *testing.T, m embed.Model, o embed.Options) (*embed.Runner, context.CancelFunc) {
	r := embed.New(m, o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	stop := func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return r, stop
}

// tokens are inputs of these lengths, whose first tokens count from 1.
func tokens(lengths ...int) [][]int32 {
	var all [][]int32
	for i, n := range lengths {
		input := make([]int32, n)
		input[0] = int32(i + 1)
		all = append(all, input)
	}
	return all
}

func TestBatches(t *testing.T) {
	var batches []string
	m := &fakellama.Model{OnEmbed: func(inputs [][]int32) error {
		line := ""
		for _, in := range inputs {
			line += fmt.Sprintf("%d*%d ", in[0], len(in))
		}
		batches = append(batches, line)
		return nil
	}}
	r, stop := runner(t, m, embed.Options{Batch: 10, Inputs: 3, Queue: 9})
	got, err := r.Embed(t.Context(), tokens(4, 6, 1, 1, 1, 1, 10))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got {
		if v[1] != float32(i+1) && i != 6 {
			t.Errorf("vector %d is of input %v", i, v[1])
		}
	}
	stop()
	if want := []string{"1*4 2*6 ", "3*1 4*1 5*1 ", "6*1 ", "7*10 "}; !slices.Equal(batches, want) {
		t.Errorf("got %q, want %q", batches, want)
	}
}

// Requests that come together share batches, and each has its own vectors.
func TestRequestsShareBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, calls := make(chan struct{}), 0
		m := &fakellama.Model{OnEmbed: func([][]int32) error {
			calls++
			<-hold
			return nil
		}}
		r, stop := runner(t, m, embed.Options{Batch: 100, Inputs: 8, Queue: 9})
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() {
				got, err := r.Embed(context.Background(), tokens(i+1, i+2))
				if err != nil || len(got) != 2 || got[0][0] != float32(i+1) || got[1][0] != float32(i+2) {
					t.Errorf("request %d: got %v, %v", i, got, err)
				}
			})
			synctest.Wait() // the first is being computed, the others wait
		}
		close(hold)
		all.Wait()
		stop()
		if calls != 2 {
			t.Errorf("%d batches", calls)
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := &fakellama.Model{OnEmbed: func([][]int32) error {
			<-hold
			return nil
		}}
		r, stop := runner(t, m, embed.Options{Batch: 8, Inputs: 1, Queue: 1})
		var all sync.WaitGroup
		ask := func(ctx context.Context, want error) {
			all.Go(func() {
				if _, err := r.Embed(ctx, tokens(3)); !errors.Is(err, want) {
					t.Errorf("got %v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		ctx, leave := context.WithCancel(context.Background())
		ask(context.Background(), nil)
		ask(ctx, context.Canceled)
		ask(context.Background(), sched.ErrQueueFull)
		leave()
		hold <- struct{}{} // the place of the one that left is free when the next batch begins
		synctest.Wait()
		ask(context.Background(), nil)
		hold <- struct{}{}
		all.Wait()
		stop()
		if _, err := r.Embed(context.Background(), tokens(1)); err != sched.ErrStopped {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		m := &fakellama.Model{OnEmbed: func(inputs [][]int32) error {
			if slices.ContainsFunc(inputs, func(in []int32) bool { return len(in) == 7 }) {
				return broken
			}
			return nil
		}}
		r, _ := runner(t, m, embed.Options{Batch: 8, Inputs: 4, Queue: 9})
		if _, err := r.Embed(context.Background(), tokens(1, 7, 1)); err != broken {
			t.Errorf("got %v", err)
		}
		if got, err := r.Embed(context.Background(), tokens(2)); err != nil || len(got) != 1 {
			t.Errorf("after a failure: %v, %v", got, err)
		}
	})
}

func TestStopEndsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		m := &fakellama.Model{OnEmbed: func([][]int32) error {
			<-hold
			return nil
		}}
		r, stop := runner(t, m, embed.Options{Batch: 8, Inputs: 1, Queue: 9})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := r.Embed(context.Background(), tokens(1, 1)); err != sched.ErrStopped {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		all.Go(stop)
		synctest.Wait()
		close(hold)
		all.Wait()
	})
}
