package managed

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Memory is what engines may take together. Before one starts, its estimate must
// fit beside those that run; those that nobody uses are stopped for it, the least
// recently used first. One that answers is never stopped: who comes waits, first
// come first served. An engine that others have waited for takes no new requests
// once patience is over, and stops when its answers have ended.
type Memory struct {
	limit    uint64 // bytes; 0: what the machine has, less a reserve
	patience time.Duration

	mu      sync.Mutex
	used    uint64
	clock   int // counts uses, for their order
	holders []*holder
	waiting []*holder     // those that have none yet, in the order of their coming
	changed chan struct{} // closed at each change
}

// holder is a process that has, or waits for, memory.
type holder struct {
	bytes   uint64
	insists bool // it is to run even if it does not fit alone
	last    int  // when it was used last, by Memory.clock
	since   int  // when it got its memory
	ready   bool // it could be stopped
	idle    bool // nobody uses it
	leaving bool // it has been told to stop
	// leave makes it stop when it is not used; if idle is true, only if that is
	// so now. It reports whether it will. It is called without Memory's lock.
	leave func(idle bool) bool
}

// NewMemory returns a budget of that many bytes; 0 is what the machine has, less
// a reserve for all else.
func NewMemory(limit uint64) *Memory {
	return &Memory{limit: limit, patience: 10 * time.Second, changed: make(chan struct{})}
}

// MemoryError says that there is no memory for an engine.
type MemoryError struct {
	Need, Limit, Used uint64        // bytes
	Waited            time.Duration // 0: it would not fit alone
}

// Error gives the figures.
func (e *MemoryError) Error() string {
	if e.Waited == 0 {
		return fmt.Sprintf("it needs about %s of memory, and engines may take %s together (engine_memory, or what the machine has free): lower its ctx or parallel, or shorten its cache types", size(e.Need), size(e.Limit))
	}
	return fmt.Sprintf("it needs about %s of memory; of the %s that engines may take, %s are taken by others, which were still answering after %s",
		size(e.Need), size(e.Limit), size(e.Used), e.Waited)
}

func size(n uint64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// bound returns how much engines may take, by what an engine says of the machine.
// The caller holds mu.
func (m *Memory) bound(e *Estimate) uint64 {
	switch {
	case m.limit > 0:
		return m.limit
	case e.Machine == 0:
		return 1 << 62 // unknown
	}
	reserve := min(max(512<<20, e.Machine/10), e.Machine/4)
	limit := e.Machine - reserve
	if e.Free > 0 { // others than engines take some
		limit = min(limit, e.Free+m.used)
	}
	return limit
}

// take waits until h may have the memory of e, at most for wait. It ends with
// ErrClosed when stop is closed.
func (m *Memory) take(h *holder, e *Estimate, wait time.Duration, stop <-chan struct{}) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := m.bound(e)
	h.bytes = e.Memory.Host
	if h.insists || h.bytes <= limit+e.Memory.Aside {
		h.bytes = min(h.bytes, limit)
	}
	if h.bytes > limit {
		return &MemoryError{Need: h.bytes, Limit: limit}
	}
	m.waiting = append(m.waiting, h)
	m.change()
	defer m.gone(h)
	late := time.NewTimer(wait)
	defer late.Stop()
	impatient := time.NewTimer(m.patience)
	defer impatient.Stop()
	for over := false; ; {
		if m.waiting[0] == h {
			if m.used+h.bytes <= limit {
				m.grant(h)
				return nil
			}
			if v := m.victim(h.bytes, limit, over); v != nil {
				m.dismiss(v)
				continue
			}
		}
		changed := m.changed
		m.mu.Unlock()
		ended := error(nil)
		select {
		case <-changed:
		case <-impatient.C:
			over = true
		case <-late.C:
			ended = &MemoryError{Need: h.bytes, Limit: limit, Waited: wait}
		case <-stop:
			ended = ErrClosed
		}
		m.mu.Lock()
		if full, ok := ended.(*MemoryError); ok {
			full.Used = m.used
		}
		if ended != nil {
			return ended
		}
	}
}

// gone takes h out of those that wait. The caller holds mu.
func (m *Memory) gone(h *holder) {
	m.waiting = slices.DeleteFunc(m.waiting, func(o *holder) bool { return o == h })
	m.change()
}

// grant gives h its memory. The caller holds mu.
func (m *Memory) grant(h *holder) {
	m.used += h.bytes
	m.clock++
	h.since, h.last = m.clock, m.clock
	m.holders = append(m.holders, h)
}

// victim returns the engine to stop next so that need fits, or nil if that must
// wait: for those that are stopping already, or for some to be idle. Idle ones
// are stopped only if that will do; with busy, those that answer are too.
func (m *Memory) victim(need, limit uint64, busy bool) *holder {
	var able []*holder
	free := limit - min(limit, m.used)
	could := free
	for _, h := range m.holders {
		switch {
		case h.leaving:
			free += h.bytes
			could += h.bytes
		case h.ready && (h.idle || busy):
			able = append(able, h)
			could += h.bytes
		}
	}
	if need <= free || need > could || len(able) == 0 {
		return nil
	}
	return slices.MinFunc(able, func(a, b *holder) int {
		switch {
		case a.idle != b.idle:
			return map[bool]int{true: -1, false: 1}[a.idle]
		case a.idle:
			return a.last - b.last
		}
		return a.since - b.since
	})
}

// dismiss tells v to leave. The caller holds mu, which is free meanwhile.
func (m *Memory) dismiss(v *holder) {
	idle := v.idle
	v.leaving = true
	m.mu.Unlock()
	will := v.leave(idle)
	m.mu.Lock()
	if !will { // it is used again
		v.leaving = false
	}
}

// use notes that h is ready, and whether anybody uses it.
func (m *Memory) use(h *holder, idle bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	h.ready, h.idle, h.last = true, idle, m.clock
	m.change()
}

// free gives back what h has, if anything.
func (m *Memory) free(h *holder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.holders)
	m.holders = slices.DeleteFunc(m.holders, func(o *holder) bool { return o == h })
	if len(m.holders) < before {
		m.used -= h.bytes
		m.change()
	}
}

// change wakes those that wait. The caller holds mu.
func (m *Memory) change() {
	close(m.changed)
	m.changed = make(chan struct{})
}
