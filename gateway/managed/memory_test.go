package managed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// tenant is an engine of which only its memory matters.
type tenant struct {
	*holder
	m    *Memory
	busy bool        // leave refuses
	left atomic.Bool // leave was called and went well
}

func newTenant(m *Memory) *tenant {
	t := &tenant{holder: &holder{}, m: m}
	t.leave = func(idle bool) bool {
		t.left.Store(!idle || !t.busy)
		return t.left.Load()
	}
	return t
}

func needs(bytes uint64) *Estimate {
	e := new(Estimate)
	e.Memory.Host = bytes
	return e
}

// takes has t take memory and be ready; it must not wait.
func (t *tenant) takes(test *testing.T, bytes uint64) {
	test.Helper()
	if err := t.m.take(t.holder, needs(bytes), time.Hour, nil); err != nil {
		test.Fatal(err)
	}
	t.m.use(t.holder, true)
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(10)
		a, b, c, d := newTenant(m), newTenant(m), newTenant(m), newTenant(m)
		a.takes(t, 3)
		b.takes(t, 3)
		c.takes(t, 3)
		m.use(a.holder, false)
		m.use(a.holder, true) // so b is the first
		done := make(chan error)
		go func() { done <- m.take(d.holder, needs(4), time.Hour, nil) }()
		synctest.Wait()
		if a.left.Load() || !b.left.Load() || c.left.Load() {
			t.Errorf("left: %v %v %v, want b alone", a.left.Load(), b.left.Load(), c.left.Load())
		}
		m.free(b.holder)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if m.used != 10 {
			t.Errorf("%d are used", m.used)
		}
	})
}

// What an engine can do without is no reason to refuse it.
func TestMemoryThatCanBeDoneWithout(t *testing.T) {
	f := func(host, aside uint64, ok bool) {
		t.Helper()
		m, e := NewMemory(10), needs(host)
		e.Memory.Aside = aside
		if err := m.take(newTenant(m).holder, e, 0, nil); (err == nil) != ok || m.used > 10 {
			t.Errorf("%d bytes, %d of them aside: got %v, and %d are used", host, aside, err, m.used)
		}
	}
	f(10, 3, true)
	f(12, 3, true)
	f(12, 1, false)
}

// Idle engines are not stopped for one that will not fit even so.
func TestNobodyGoesInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(10)
		m.patience = 24 * time.Hour
		a, b, c := newTenant(m), newTenant(m), newTenant(m)
		a.takes(t, 6)
		b.takes(t, 3)
		m.use(a.holder, false)
		done := make(chan error)
		begin := time.Now()
		go func() { done <- m.take(c.holder, needs(8), time.Minute, nil) }()
		synctest.Wait()
		if a.left.Load() || b.left.Load() {
			t.Errorf("left: %v %v", a.left.Load(), b.left.Load())
		}
		err := <-done
		if full := (*MemoryError)(nil); !errors.As(err, &full) || *full != (MemoryError{8, 10, 9, time.Minute}) || time.Since(begin) != time.Minute {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
		m.use(a.holder, true)
		d := newTenant(m)
		go func() { done <- m.take(d.holder, needs(8), time.Minute, nil) }()
		synctest.Wait()
		if !a.left.Load() || !b.left.Load() {
			t.Errorf("left: %v %v, want both", a.left.Load(), b.left.Load())
		}
		m.free(a.holder)
		m.free(b.holder)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(10)
		a, big, small := newTenant(m), newTenant(m), newTenant(m)
		a.takes(t, 8)
		m.use(a.holder, false)
		var order []string
		var mu sync.Mutex
		var wg sync.WaitGroup
		f := func(name string, h *holder, bytes uint64, stop chan struct{}) {
			wg.Go(func() {
				err := m.take(h, needs(bytes), time.Hour, stop)
				mu.Lock()
				defer mu.Unlock()
				order = append(order, fmt.Sprint(name, " ", err))
			})
			synctest.Wait()
		}
		stop := make(chan struct{})
		f("gone", newTenant(m).holder, 9, stop)
		f("big", big.holder, 9, nil)
		f("small", small.holder, 1, nil)
		mu.Lock()
		if len(order) > 0 {
			t.Errorf("%q overtook", order)
		}
		mu.Unlock()
		close(stop)
		synctest.Wait()
		m.free(a.holder)
		wg.Wait()
		if got := strings.Join(order, ", "); !strings.HasPrefix(got, "gone the engine is closed, ") || m.used != 10 {
			t.Errorf("got %s, %d used", got, m.used)
		}
	})
}

// An engine that is never idle gives way after a while.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(10)
		a, b, c := newTenant(m), newTenant(m), newTenant(m)
		a.takes(t, 5)
		b.takes(t, 5)
		a.busy, b.busy = true, true
		m.use(b.holder, false)
		m.use(a.holder, false)
		begin := time.Now()
		done := make(chan error)
		go func() { done <- m.take(c.holder, needs(5), time.Hour, nil) }()
		time.Sleep(m.patience - time.Nanosecond)
		synctest.Wait()
		if a.left.Load() || b.left.Load() {
			t.Error("told to leave too soon")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if !a.left.Load() || b.left.Load() {
			t.Errorf("left: %v %v, want the one that has been there longest", a.left.Load(), b.left.Load())
		}
		m.free(a.holder)
		if err := <-done; err != nil || time.Since(begin) != m.patience {
			t.Errorf("got %v after %s", err, time.Since(begin))
		}
	})
}

func TestBound(t *testing.T) {
	const gib = 1 << 30
	f := func(limit, machine, free, used, want uint64) {
		t.Helper()
		m := NewMemory(limit)
		m.used = used
		e := &Estimate{Machine: machine, Free: free}
		if got := m.bound(e); got != want {
			t.Errorf("%d, %d, %d, %d: got %d, want %d", limit, machine, free, used, got, want)
		}
	}
	f(6*gib, 16*gib, 1*gib, 0, 6*gib)
	f(0, 20*gib, 20*gib, 0, 18*gib)
	f(0, 2*gib, 2*gib, 0, 2*gib-512<<20)
	f(0, 1*gib, 1*gib, 0, 1*gib-256<<20)
	f(0, 20*gib, 5*gib, 4*gib, 9*gib)
	f(0, 20*gib, 0, 4*gib, 18*gib)
	f(0, 0, 0, 0, 1<<62)
}

// two returns engines that do not fit beside each other.
func two(t *testing.T) (m *Memory, a, b *Engine) {
	m = NewMemory(10)
	one := func(o *Options) { o.Memory, o.Args = m, []string{"-need", "7"} }
	return m, start(t, "good", one), start(t, "good", one)
}

func TestIdleEngineMakesRoom(t *testing.T) {
	m, a, b := two(t)
	_, release := acquire(t, a)
	first := a.now()
	release()
	for range 2 { // to and fro
		_, release = acquire(t, b)
		<-first.ended
		release()
		_, release = acquire(t, a)
		first = a.now()
		release()
	}
	if a.failures+b.failures != 0 || m.used != 7 {
		t.Errorf("%d, %d failures, %d used", a.failures, b.failures, m.used)
	}
}

func TestBusyEngineIsWaitedFor(t *testing.T) {
	m, a, b := two(t)
	address, release := acquire(t, a)
	got := make(chan error)
	go func() {
		_, release, err := b.Acquire(context.Background())
		if err == nil {
			release()
		}
		got <- err
	}()
	m.waitFor(1)
	talk(t, address, "hello") // it is let be
	select {
	case err := <-got:
		t.Fatalf("b did not wait: %v", err)
	default:
	}
	release()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// waitFor returns when n wait for memory.
func (m *Memory) waitFor(n int) {
	for {
		m.mu.Lock()
		enough, changed := len(m.waiting) == n, m.changed
		if enough {
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()
		<-changed
	}
}

// Who gives up waiting has nobody stopped.
func TestWaitingIsGivenUp(t *testing.T) {
	m, a, b := two(t)
	address, release := acquire(t, a)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error)
	go func() {
		_, _, err := b.Acquire(ctx)
		got <- err
	}()
	m.waitFor(1)
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	m.waitFor(0)
	release()
	if pid := talk(t, address, "hello"); pid == "" || a.now() == nil {
		t.Error("a was stopped for nobody")
	}
}

func TestNoRoom(t *testing.T) {
	m, a, b := two(t)
	b.opt.Wait = time.Millisecond
	_, release := acquire(t, a)
	defer release()
	for range 2 { // it is not held against it
		_, _, err := b.Acquire(t.Context())
		var failed *StartError
		if want := "the engine for good did not start: it needs about 0 MiB of memory; of the 0 MiB that engines may take, 0 MiB are taken by others, which were still answering after 1ms"; !errors.As(err, &failed) || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
	huge := start(t, "good", func(o *Options) { o.Memory, o.Args = m, []string{"-need", "11811160064"} })
	if _, _, err := huge.Acquire(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "it needs about 11.0 GiB of memory, and engines may take 0 MiB together (engine_memory, or what the machine has free): lower its ctx or parallel, or shorten its cache types") {
		t.Errorf("got %v", err)
	}
	insists := start(t, "good", func(o *Options) {
		o.Memory, o.Args, o.AnySize = NewMemory(10), []string{"-need", "11811160064"}, true
	})
	_, leave := acquire(t, insists)
	leave()
	bad := start(t, "broken", func(o *Options) { o.Memory = m })
	if _, _, err := bad.Acquire(t.Context()); err == nil || !strings.Contains(err.Error(), "no such model file: broken") {
		t.Errorf("got %v", err)
	}
}

// An engine whose users overlap goes after the last, when others have waited.
func TestBusyEngineGivesWay(t *testing.T) {
	m, a, b := two(t)
	m.patience = 0
	address, release := acquire(t, a)
	old := a.now()
	got := make(chan func())
	go func() {
		_, release, err := b.Acquire(context.Background())
		if err != nil {
			t.Error(err)
		}
		got <- release
	}()
	for a.now() == old { // until it is told to give way
		runtime.Gosched()
	}
	again := make(chan func())
	go func() {
		_, release, err := a.Acquire(context.Background())
		if err != nil {
			t.Error(err)
		}
		again <- release
	}()
	talk(t, address, "hello") // its answers go on
	release()
	(<-got)()
	(<-again)()
	if a.now() == old {
		t.Error("a is the old one")
	}
}

// A crash gives the memory back, whoever still holds the engine.
func TestCrashedEngineHoldsNoMemory(t *testing.T) {
	m, a, b := two(t)
	address, release := acquire(t, a)
	defer release()
	p := a.now()
	talk(t, address, "die")
	<-p.ended
	_, leave := acquire(t, b)
	leave()
	if m.used != 7 {
		t.Errorf("%d are used", m.used)
	}
}

func TestCloseWhileWaiting(t *testing.T) {
	m, a, b := two(t)
	_, release := acquire(t, a)
	got := make(chan error)
	go func() {
		_, _, err := b.Acquire(context.Background())
		got <- err
	}()
	m.waitFor(1)
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-got; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	release()
}

// TestManyEngines has many requests for engines of which two fit: all are
// answered, and never more run than fit.
func TestManyEngines(t *testing.T) {
	m := NewMemory(10)
	m.patience = time.Millisecond
	var engines []*Engine
	for range 4 {
		engines = append(engines, start(t, "good", func(o *Options) { o.Memory, o.Args = m, []string{"-need", "5"} }))
	}
	var wg sync.WaitGroup
	for i := range 8 {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		wg.Go(func() {
			for range 4 {
				address, release, err := engines[r.IntN(len(engines))].Acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				talk(t, address, "hello")
				m.mu.Lock()
				if m.used > 10 {
					t.Errorf("%d are used", m.used)
				}
				m.mu.Unlock()
				release()
			}
		})
	}
	wg.Wait()
}
