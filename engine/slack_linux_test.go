package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
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
	fmt.Println(os.Getenv(slackVariable), slackNow())
	var one sync.Mutex
	everyThread(func() {
		one.Lock()
		defer one.Unlock()
		fmt.Println(slackNow())
	})
	os.Exit(0)
}

func TestTimersOfThreadsWithGoroutinesAreNotLate(t *testing.T) {
	cmd := command(t.Context())
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, slackVariable) }), asSlack+"=1")
	out, err := cmd.Output()
	usual := fmt.Sprint(slackNow())
	got := strings.Fields(string(out))
	late := slices.DeleteFunc(slices.Clone(got), func(ns string) bool { return ns == usual })
	anew := strings.HasPrefix(string(out), usual+" ")
	if err != nil || !anew || len(got) < 10 || len(late) > 1 {
		t.Errorf("got %q, %v, want %s but for one thread", out, err, usual)
	}
}

// Whoever sets the variable wants none of it.
func TestNoTimersArePutOff(t *testing.T) {
	cmd := command(t.Context())
	cmd.Env = append(os.Environ(), asSlack+"=1", slackVariable+"=7")
	out, err := cmd.Output()
	want := fmt.Sprintln(7, slackNow())
	if err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("got %q, %v, want %s first", out, err, want)
	}
}
