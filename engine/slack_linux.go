package main

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// slack is by how many nanoseconds Linux may put off the timers of this program.
const slack = 1_000_000

// slackVariable is set in the environment of the program that was started anew.
const slackVariable = "DRAGOMAN_ENGINE_SLACK"

// prctl's numbers.
const setTimerSlack, getTimerSlack = 29, 30

// putOffTimers starts this program anew, in the same process, with timers that
// may be late. It returns if that was done before or cannot be done.
//
// Go's runtime has a thread that watches the others. Whenever one was in
// llama.cpp for more than 10 ms it looks again every 20 microseconds for a
// while, and each time takes a processor from a thread that computes, for which
// all the others wait: a twentieth of a step of some 10 ms on two processors. The
// slack of a thread is that of the one that started it, and that one thread is
// older than main.
func putOffTimers() {
	if os.Getenv(slackVariable) != "" {
		return
	}
	exe, err := os.Executable()
	if err != nil {
		return
	}
	runtime.LockOSThread() // whose slack the new program inherits
	defer runtime.UnlockOSThread()
	if now, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, getTimerSlack, 0, 0); errno != 0 || now >= slack {
		return
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, slack, 0); errno != 0 {
		return
	}
	_ = syscall.Exec(exe, os.Args, append(os.Environ(), slackVariable+"="+strconv.Itoa(slack)))
}
