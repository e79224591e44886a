package harness

import (
	"strings"
	"testing"
	"time"
)

// Log holds what a gateway has logged. One goroutine may wait for lines.
type Log struct {
	lines chan string
	all   strings.Builder
}

// NewLog returns a log that something may be written to, line by line.
func NewLog() *Log { return &Log{lines: make(chan string, 4096)} }

// Write takes one line; a log that nobody reads forgets what is too much.
func (l *Log) Write(line []byte) (int, error) {
	select {
	case l.lines <- string(line):
	default:
	}
	return len(line), nil
}

// Wait returns the next line that contains text, and fails the test if there is
// none soon.
func (l *Log) Wait(t testing.TB, text string) string {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case line := <-l.lines:
			l.all.WriteString(line)
			if strings.Contains(line, text) {
				return line
			}
		case <-deadline:
			t.Fatalf("the log has no %q:\n%s", text, l.all.String())
		}
	}
}

// All returns the lines that Wait has looked at.
func (l *Log) All() string { return l.all.String() }
