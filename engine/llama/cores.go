package llama

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// physicalCores counts cores, not the hardware threads that share them, where
// Linux tells; elsewhere processors.
func physicalCores() int {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list")
	cores := make(map[string]bool)
	for _, f := range files {
		if siblings, err := os.ReadFile(f); err == nil {
			cores[string(siblings)] = true
		}
	}
	if len(cores) == 0 {
		return runtime.NumCPU()
	}
	return len(cores)
}

// crowd watches whether this program's threads have to wait for a processor.
type crowd struct {
	ran, waited float64 // until the latest look
	looked      time.Time
	crowded     bool
}

// full reports whether others want the processors so much that the threads of
// this program have lately waited for more than a quarter of their time.
func (c *crowd) full() bool {
	if now := time.Now(); now.Sub(c.looked) > 100*time.Millisecond {
		c.looked = now
		ran, waited := scheduled()
		if r, w := ran-c.ran, waited-c.waited; r > 0 && w >= 0 {
			c.crowded = w > (r+w)/4
		}
		c.ran, c.waited = ran, waited
	}
	return c.crowded
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
