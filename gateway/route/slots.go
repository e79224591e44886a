package route

import (
	"context"
	"reflect"
)

// slots bounds how many requests a backend gets at once; nil is no bound.
// Waiting requests are served in the order in which they came.
type slots chan struct{}

func newSlots(n int) slots {
	if n <= 0 {
		return nil
	}
	return make(slots, n)
}

// full reports whether try would fail, by now.
func (s slots) full() bool { return s != nil && len(s) == cap(s) }

// try takes a slot if one is free. Those who wait come first: a slot that is
// released is theirs at once.
func (s slots) try() bool {
	if s == nil {
		return true
	}
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// acquire waits for a free slot. A request whose ctx ends leaves the queue.
func (s slots) acquire(ctx context.Context) error {
	if s == nil {
		return nil
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s slots) release() {
	if s != nil {
		<-s
	}
}

// waitAny takes the first slot that comes free among those of list, all of which
// have a bound, in the order in which requests came.
func waitAny(ctx context.Context, list []*backend) (*backend, error) {
	if len(list) == 1 {
		return list[0], list[0].slots.acquire(ctx)
	}
	cases := make([]reflect.SelectCase, 0, len(list)+1)
	for _, b := range list {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectSend, Chan: reflect.ValueOf(b.slots), Send: reflect.ValueOf(struct{}{})})
	}
	cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())})
	i, _, _ := reflect.Select(cases)
	if i == len(list) {
		return nil, context.Cause(ctx)
	}
	return list[i], nil
}
