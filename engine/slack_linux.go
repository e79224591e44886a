package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
)

// slack is by how many nanoseconds Linux may put off the timers of Go's watching
// thread.
const slack = 1_000_000

// slackVariable tells the program that was started anew what the slack was.
const slackVariable = "DRAGOMAN_ENGINE_SLACK"

// prctl's numbers.
const setTimerSlack, getTimerSlack = 29, 30

// putOffTimers starts this program anew, in the same process, with a thread that
// watches the others more slowly. It returns if that was done before or cannot be
// done. It is for the beginning of main.
//
// Go's runtime has that thread. Whenever another one was in llama.cpp for more than
// 10 ms it looks again every 20 microseconds for a while, and each time takes a
// processor from a thread that computes, for which all the others wait: a twentieth
// of a step of some 10 ms on two processors. The slack of a thread is that of the one
// that started it, and that thread is older than all of this program. The others
// sleep for microseconds where they take over work, and have their slack put back.
func putOffTimers() {
	if old := os.Getenv(slackVariable); old != "" {
		if usual, err := strconv.ParseUint(old, 10, 32); err == nil && slackNow() == slack {
			putBack(uintptr(usual))
		}
		return
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	runtime.LockOSThread() // whose slack the new program inherits
	defer runtime.UnlockOSThread()
	if now := slackNow(); now > 0 && now < slack && setSlack(slack) {
		_ = syscall.Exec(exe, os.Args, append(os.Environ(), fmt.Sprint(slackVariable, "=", now)))
		setSlack(now)
	}
}

// slackNow returns the slack of this thread, or 0 if that is not known.
func slackNow() uintptr {
	now, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, getTimerSlack, 0, 0)
	if errno != 0 {
		return 0
	}
	return now
}

// setSlack sets it, and reports whether that worked.
func setSlack(ns uintptr) bool {
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, ns, 0)
	return errno == 0
}

// putBack sets the slack of this thread, of those that wait for goroutines, and of
// some new ones, that stay: further ones would be late again.
func putBack(usual uintptr) {
	setSlack(usual)
	for range 4 { // each time one thread hands over to the others
		everyThread(func() { setSlack(usual) })
	}
}

// everyThread calls f on many threads at once.
func everyThread(f func()) {
	var there, gone sync.WaitGroup
	n := runtime.GOMAXPROCS(0) + 8
	there.Add(n)
	for range n {
		gone.Go(func() {
			runtime.LockOSThread() // with all there at once, each is on its own
			defer runtime.UnlockOSThread()
			f()
			there.Done()
			there.Wait()
		})
	}
	gone.Wait()
}
