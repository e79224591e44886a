package route

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"dragoman/gateway/config"
)

// group is the backends of one entry of the configuration.
type group struct {
	entry    *config.Model
	backends []*backend
	now      func() time.Time
	mu       sync.Mutex // guards the turn of each backend
}

// step is a group that a request is taken to. It is comparable.
type step struct {
	*group
	star string // what the * of the entry's name stands for
}

// wanted returns b's name for the model.
func (s step) wanted(b *backend) string { return strings.Replace(b.wanted, "*", s.star, 1) }

// able returns the backends that can do what e asks for. If there are none, the
// error is what the first says.
func (g *group) able(e errand) ([]*backend, error) {
	var all []*backend
	var first error
	for _, b := range g.backends {
		switch err := e.able(b); {
		case err == nil:
			all = append(all, b)
		case first == nil:
			first = err
		}
	}
	if len(all) == 0 {
		return nil, first
	}
	return all, nil
}

// take chooses the backend for the next attempt, one of list, and takes a slot of
// it. Those that rest are left out; of the others, those with a free slot get
// their turn by weight, and only if all are busy it waits for the first slot.
// Weight 0 waits until no other is left. It returns nil if all rest.
func (g *group) take(ctx context.Context, list []*backend) (*backend, error) {
	for {
		awake := g.awake(list)
		if len(awake) == 0 {
			return nil, nil
		}
		if b := g.turn(awake); b != nil {
			return b, nil
		}
		b, err := waitAny(ctx, awake)
		if err != nil {
			return nil, err
		}
		if b.health.try(g.now()) {
			return b, nil
		}
		b.slots.release() // it has failed meanwhile
	}
}

// awake returns those of list that do not rest: with weight 0 only if there are
// no others.
func (g *group) awake(list []*backend) []*backend {
	var weighted, spare []*backend
	now := g.now()
	for _, b := range list {
		switch left, _, _ := b.health.rest(now); {
		case left > 0:
		case b.weight > 0:
			weighted = append(weighted, b)
		default:
			spare = append(spare, b)
		}
	}
	if len(weighted) > 0 {
		return weighted
	}
	return spare
}

// turn takes a slot of the backend in list whose turn it is among those with a
// free one; nil if there are none. Turns mix smoothly: 3 to 1 is a, a, b, a.
func (g *group) turn(list []*backend) *backend {
	g.mu.Lock()
	defer g.mu.Unlock()
	free := slices.DeleteFunc(slices.Clone(list), func(b *backend) bool { return b.slots.full() })
	for len(free) > 0 {
		next, total := free[0], 0
		for _, b := range free {
			b.turn += max(b.weight, 1)
			total += max(b.weight, 1)
			if b.turn > next.turn {
				next = b
			}
		}
		next.turn -= total
		if next.slots.try() {
			if next.health.try(g.now()) {
				return next
			}
			next.slots.release() // another request tries it
		}
		free = slices.DeleteFunc(free, func(b *backend) bool { return b == next })
	}
	return nil
}

// soonest returns the one of list whose rest ends first, and how long it still
// lasts; nil if none has failed. With unasked it leaves out those that asked for
// their rest.
func (g *group) soonest(list []*backend, unasked bool) (next *backend, left time.Duration) {
	now := g.now()
	for _, b := range list {
		rest, asked, last := b.health.rest(now)
		if last != nil && !(unasked && asked) && (next == nil || rest < left) {
			next, left = b, rest
		}
	}
	return next, left
}

// why returns the failure for which the one that soonest names rests, or nil.
func (g *group) why(list []*backend) error {
	b, _ := g.soonest(list, false)
	if b == nil {
		return nil
	}
	if _, _, last := b.health.rest(g.now()); last != nil {
		return last
	}
	return nil
}
