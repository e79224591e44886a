package managed

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// StartError says that an engine ended, or could not be run, before it was
// ready. The gateway answers 503 model_not_loaded.
type StartError struct {
	Model string
	Lines []string // the last lines of its standard error
	Err   error    // such as "exit status 1"
}

// Error names the model and gives the engine's own words.
func (e *StartError) Error() string {
	s := fmt.Sprintf("the engine for %s did not start: %v", e.Model, e.Err)
	if len(e.Lines) > 0 {
		s += ": " + strings.Join(e.Lines, "; ")
	}
	return s + hint(s)
}

// hints tell what to do about some endings.
var hints = []struct{ words, hint string }{
	{"libffi", " (install libffi: on Debian and Ubuntu the package libffi8)"},
	{"signal: killed", " (perhaps by the system, which kills what takes too much memory)"},
}

func hint(s string) string {
	for _, h := range hints {
		if strings.Contains(s, h.words) {
			return h.hint
		}
	}
	return ""
}

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

// Bounds of what is kept of standard error.
const (
	maxLines = 10
	maxLine  = 500 // bytes
)

// tail logs what an engine writes to standard error, line by line, and keeps
// the last lines. Of a Go program's death it keeps the reason and not the
// stacks, which would push the reason out.
type tail struct {
	log *slog.Logger

	mu     sync.Mutex
	rest   []byte // a line without its end
	lines  []string
	stacks bool // a dump of goroutines has begun
}

func newTail(log *slog.Logger) *tail { return &tail{log: log} }

// Write implements io.Writer. It never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	for {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		t.rest = append(t.rest, line[:min(len(line), max(0, maxLine-len(t.rest)))]...)
		if !found {
			return n, nil
		}
		t.take(string(t.rest))
		t.rest, b = t.rest[:0], rest
	}
}

// take accepts one line.
func (t *tail) take(line string) {
	line = strings.ToValidUTF8(strings.TrimSpace(line), "?")
	if line == "" {
		return
	}
	t.log.Log(context.Background(), slog.LevelDebug, "engine says", "line", line)
	t.stacks = t.stacks || strings.HasPrefix(line, "goroutine ") && strings.HasSuffix(line, "]:")
	if t.stacks {
		return
	}
	if t.lines = append(t.lines, line); len(t.lines) > maxLines {
		t.lines = t.lines[1:]
	}
}

// last returns the last lines, an unfinished one too.
func (t *tail) last() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := slices.Clone(t.lines)
	if rest := strings.ToValidUTF8(strings.TrimSpace(string(t.rest)), "?"); rest != "" && !t.stacks {
		lines = append(lines, rest)
	}
	return lines
}
