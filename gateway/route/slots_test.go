package route

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestSlotsAreGivenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		if err := s.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := make(chan int, 3)
		for i := range 3 {
			go func() {
				if s.acquire(t.Context()) == nil {
					got <- i
				}
			}()
			synctest.Wait() // it is in the queue
		}
		for want := range 3 {
			s.release()
			if i := <-got; i != want {
				t.Errorf("request %d was served before request %d", i, want)
			}
		}
		s.release()
	})
}

// TestBC067AWaitingClientThatGoesLeavesTheQueue: its place is not kept.
func TestBC067AWaitingClientThatGoesLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1)
		if err := s.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone := errors.New("the client is gone")
		ctx, leave := context.WithCancelCause(t.Context())
		left := make(chan error)
		go func() { left <- s.acquire(ctx) }()
		synctest.Wait()
		next := make(chan error, 1)
		go func() { next <- s.acquire(t.Context()) }()
		synctest.Wait()
		leave(gone)
		if err := <-left; !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
		s.release()
		if err := <-next; err != nil {
			t.Error(err)
		}
		s.release()
	})
}

func TestNoSlotsIsNoBound(t *testing.T) {
	s := newSlots(0)
	for range 1000 {
		if err := s.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.release()
}
