package route

import "context"

// slots bounds how many requests a backend gets at once; nil is no bound.
// Waiting requests are served in the order in which they came.
type slots chan struct{}

func newSlots(n int) slots {
	if n <= 0 {
		return nil
	}
	return make(slots, n)
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
