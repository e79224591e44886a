package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// asSlack makes the test binary a program that puts off its timers and prints
// the slack of several threads.
const asSlack = "DRAGOMAN_TEST_AS_SLACK"

func init() {
	if os.Getenv(asSlack) == "" {
		return
	}
	putOffTimers()
	var all, one sync.WaitGroup
	var mu sync.Mutex
	all.Add(4)
	for range 4 {
		one.Go(func() {
			runtime.LockOSThread() // with all here at once, each is on its own
			all.Done()
			all.Wait()
			got, _, _ := syscall.RawSyscall(syscall.SYS_PRCTL, getTimerSlack, 0, 0)
			mu.Lock()
			defer mu.Unlock()
			fmt.Println(got)
		})
	}
	one.Wait()
	os.Exit(0)
}

func TestTimersOfAllThreadsMayBeLate(t *testing.T) {
	cmd := command(t.Context())
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, slackVariable) }), asSlack+"=1")
	out, err := cmd.Output()
	if got := strings.Fields(string(out)); err != nil || len(got) != 4 || slices.Min(got) != fmt.Sprint(slack) || slices.Max(got) != fmt.Sprint(slack) {
		t.Errorf("got %q, %v, want %d ns four times", out, err, slack)
	}
}
