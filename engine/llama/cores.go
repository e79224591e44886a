package llama

import (
	"os"
	"path/filepath"
	"runtime"
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
