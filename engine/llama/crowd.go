package llama

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// crowd watches how many threads of other programs want the processors, where
// Linux tells.
type crowd struct {
	looked      time.Time
	rest        time.Duration // until the next look
	ran, waited float64       // this program's threads until then, in nanoseconds
	others      float64
}

// full reports whether others want the processors so much that each of so many
// threads would wait for more than a quarter of its time.
func (c *crowd) full(threads int) bool {
	if now := time.Now(); now.Sub(c.looked) > c.rest {
		ran, waited := scheduled()
		c.rest = max(100*time.Millisecond, 64*time.Since(now)) // many threads take long to look at
		c.look(now, ran, waited, runtime.NumCPU(), runnable)
	}
	return tooMany(threads, c.others, runtime.NumCPU())
}

func tooMany(threads int, others float64, processors int) bool {
	all := float64(threads) + others
	return all-float64(processors) > all/4
}

// fade is how long others that are not found any more count for something: one
// thread may have a processor for itself for some tenths of a second, while two
// others share the next.
const fade = time.Second

// look finds the others by how much this program's threads had to wait for the
// processors since the last look. If they mostly slept, now tells how many of those
// that were there still are, unless it cannot. It does not find more, but at the
// start: many requests that come at once look the same.
func (c *crowd) look(at time.Time, ran, waited float64, processors int, now func() (others float64, ok bool)) {
	r, w, passed, first := ran-c.ran, waited-c.waited, float64(at.Sub(c.looked)), c.looked.IsZero()
	left := math.Exp(-passed / float64(fade))
	c.looked, c.ran, c.waited = at, ran, waited
	switch {
	case r < 0 || w < 0: // a thread has ended, and its share is gone
	case r+w < passed/2:
		if !first && c.others == 0 {
			break
		}
		switch n, ok := now(); {
		case !ok:
			c.others *= left
		case first:
			c.others = n
		default:
			c.others = min(c.others, n)
		}
	case w > (r+w)/8: // less says nothing
		c.others = max(c.others*left, float64(processors)*(r+w)/max(r, 1)-(r+w)/passed)
	default:
		c.others *= left
	}
	c.others = min(c.others, float64(2*processors)) // more of them leave no less room
}

// scheduled returns for how many nanoseconds the threads of this program have
// run and have waited to, where Linux tells.
func scheduled() (ran, waited float64) {
	files, _ := filepath.Glob("/proc/self/task/[0-9]*/schedstat")
	for _, f := range files {
		data, err := os.ReadFile(f) // 2085411 35120 12: ran, waited, times
		if err != nil {
			continue // a thread that has just ended
		}
		if fields := strings.Fields(string(data)); len(fields) > 1 {
			r, _ := strconv.ParseFloat(fields[0], 64)
			w, _ := strconv.ParseFloat(fields[1], 64)
			ran, waited = ran+r, waited+w
		}
	}
	return ran, waited
}

// runnable returns how many threads there are, besides the one that asks, that
// run or wait to; those that do for a moment only do not count. Linux counts
// those of the whole machine, so it is not ok for a program that may not use all of
// it.
func runnable() (others float64, ok bool) {
	if !wholeMachine() {
		return 0, false
	}
	others = math.Inf(1)
	for start := time.Now(); others > 0 && time.Since(start) < 500*time.Microsecond; {
		var skipped [3]float64
		var n float64
		data, _ := os.ReadFile("/proc/loadavg") // 0.20 0.18 0.12 1/80 11206
		if _, err := fmt.Sscanf(string(data), "%f %f %f %f/", &skipped[0], &skipped[1], &skipped[2], &n); err != nil {
			return 0, false
		}
		others = min(others, max(0, n-1))
	}
	return others, true
}

// wholeMachine reports whether this program may use all processors.
var wholeMachine = sync.OnceValue(func() bool {
	data, _ := os.ReadFile("/proc/stat") // a line for all processors together, and one for each
	return strings.Count(string(data), "\ncpu") == runtime.NumCPU()
})
