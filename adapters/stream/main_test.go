package stream

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails the package if a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if left := leaked(); left != "" {
			fmt.Println("goroutines left behind:\n" + left)
			code = 1
		}
	}
	os.Exit(code)
}

// leaked gives goroutines that are about to end five seconds to do so, and
// returns the stacks of the others.
func leaked() string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var left []string
	for range 500 {
		left = left[:0]
		buf := make([]byte, 1<<20)
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")[1:] {
			if !strings.Contains(g, "os/signal") && !strings.Contains(g, "testing.runFuzz") {
				left = append(left, g)
			}
		}
		if len(left) == 0 {
			return ""
		}
		<-tick.C
	}
	return strings.Join(left, "\n\n")
}
