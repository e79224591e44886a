package llama

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestCrowd(t *testing.T) {
	f := func(name string, processors int, before, ran, waited, running float64, full ...bool) {
		t.Helper()
		start := time.Now()
		c := &crowd{looked: start, ran: 5e9, waited: 2e9, others: before}
		c.look(start.Add(time.Second), 5e9+ran*1e9, 2e9+waited*1e9, processors, func() (float64, bool) { return running, running >= 0 })
		for i, want := range full {
			if got := tooMany(i+1, c.others, processors); got != want {
				t.Errorf("%s: %d threads are too many: %v, beside %.1f others", name, i+1, got, c.others)
			}
		}
	}
	const (
		room = false
		many = true
	)
	f("two threads alone", 2, 0, 2, 0, 9, room, room)
	f("two threads that hardly wait", 2, 0, 1.9, 0.1, 9, room, room)
	f("one thread beside two others", 2, 0, 2./3, 1./3, 0, many, many)
	f("two threads beside two others", 2, 0, 1, 1, 0, many, many)
	f("one thread beside one other", 2, 0, 1, 0, 9, room, room) // nobody can tell
	f("two threads beside one other", 2, 0, 4./3, 2./3, 0, room, many)
	f("four threads beside one other, of four processors", 4, 0, 3.2, 0.8, 0, room, room, room, room)
	f("four threads beside two others", 4, 0, 4*4./6, 4*2./6, 0, room, room, room, many)
	f("two threads beside two others, of four processors", 4, 0, 2, 0, 0, room, room, room, room)
	f("never ran at all", 2, 0, 0, 2, 0, many, many)
	f("a thread that was lucky beside two others for a second", 2, 2, 1, 0, 0, room, many)
	f("slept, and is asked much at once beside one other", 2, 1, 0.1, 0, 4, room, many)
	f("slept, and all are free", 2, 2, 0.1, 0, 0, room, room)
	f("slept, and all are still taken", 2, 2, 0.1, 0, 2, many, many)
	f("slept, and one is free", 2, 2, 0.1, 0.1, 1, room, many)
	f("slept, and cannot tell", 2, 1, 0.1, 0, -1, room, room)
	f("waits for almost all of its time", 2, 0, 0.001, 0.999, 0, many, many)
	f("slept, and some of sixteen are taken", 16, 16, 0.1, 0, 5, make([]bool, 16)...)
	f("slept, and is asked much at once", 2, 0, 0.1, 0, 4, room, room)
	f("a thread ended", 2, 1, -1, 1, 9, room, many)

	c := &crowd{}
	if c.look(time.Now(), 1e6, 0, 2, func() (float64, bool) { return 2, true }); c.others != 2 {
		t.Errorf("%g others at the start", c.others)
	}
	c.look(c.looked.Add(time.Second), c.ran+1, c.waited+1e9, 2, nil)
	if c.others > 4 {
		t.Errorf("%g others", c.others)
	}
	c.look(c.looked.Add(3*time.Second), c.ran+3e9, c.waited, 2, nil)
	if tooMany(2, c.others, 2) {
		t.Errorf("%g others long after they have gone", c.others)
	}
}

// The kernel's figures are there, and grow with what this program does.
func TestScheduled(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("the system does not tell")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	before, _ := scheduled()
	for ran := before; ran < before+20e6; ran, _ = scheduled() {
		if time.Since(start) > 10*time.Second {
			t.Fatalf("it ran for %g ns, and still does", ran-before)
		}
	}
}

// Others that compute are found.
func TestRunnable(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.NumCPU() == 1 || !wholeMachine() {
		t.Skip("the system does not tell")
	}
	var stop atomic.Bool
	var busy sync.WaitGroup
	for range 2 * runtime.NumCPU() { // so that some of them wait
		busy.Go(func() {
			for !stop.Load() {
			}
		})
	}
	defer busy.Wait()
	defer stop.Store(true)
	start := time.Now()
	for {
		n, ok := runnable()
		if !ok {
			t.Fatal("it cannot tell")
		}
		if n > 0 {
			return
		}
		if time.Since(start) > 10*time.Second {
			t.Fatal("it finds nobody")
		}
	}
}
