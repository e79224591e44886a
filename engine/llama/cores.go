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

// crowd watches how many processors other programs want.
type crowd struct {
	cores   float64
	others  float64 // average of the latest looks
	checked time.Time
}

// look counts who runs or wants to, now and then. It is called when a step has
// been computed: of this program one thread runs then, and few more.
func (c *crowd) look() {
	if now := time.Now(); now.Sub(c.checked) >= 10*time.Millisecond {
		c.checked = now
		c.others += (max(0, runnable()-1) - c.others) / 8
	}
}

// free returns how many processors are left.
func (c *crowd) free() float64 { return c.cores - c.others }

// runnable returns how many threads of the machine run or could, where Linux
// tells; elsewhere 0.
func runnable() float64 {
	data, err := os.ReadFile("/proc/loadavg") // 0.20 0.18 0.12 1/80 11206
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 4 {
		return 0
	}
	now, _, _ := strings.Cut(fields[3], "/")
	n, _ := strconv.ParseFloat(now, 64)
	return n
}
