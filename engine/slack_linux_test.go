//go:build llama

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTimersOfAllThreadsMayBeLate(t *testing.T) {
	p := start(t)
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.ready.PID))
	if err != nil || len(threads) == 0 {
		t.Fatal("no threads: ", err)
	}
	for _, thread := range threads {
		got, err := os.ReadFile(filepath.Join("/proc", filepath.Base(thread), "timerslack_ns"))
		if err != nil {
			t.Skip("this Linux does not tell: ", err)
		}
		if strings.TrimSpace(string(got)) != fmt.Sprint(slack) {
			t.Errorf("thread %s: %s ns", filepath.Base(thread), got)
		}
	}
}
