package llama

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/ebitengine/purego"
	"github.com/hybridgroup/yzma/pkg/llama"
)

// Verbose makes llama.cpp's whole log go to standard error, not only its
// warnings and errors. Set it before Load.
var Verbose bool

// logged remembers llama.cpp's latest errors: its functions only say that they
// failed, and the log says why.
var logged errorLog

type errorLog struct {
	mu    sync.Mutex
	lines []string
	level llama.LogLevel // of the line before, for continued lines
}

// add takes one message.
func (l *errorLog) add(level llama.LogLevel, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if level == llama.LogLevelContinue {
		level = l.level
	}
	l.level = level
	if Verbose || level >= llama.LogLevelWarn {
		fmt.Fprint(os.Stderr, text)
	}
	if level == llama.LogLevelError {
		l.lines = append(l.lines, oneLine(text))
	}
}

func (l *errorLog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = nil
}

// reason returns what was logged since reset as an error, or err if nothing was.
func (l *errorLog) reason(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return err
	}
	return errors.New(strings.Join(l.lines, "; "))
}

// logCallback returns a C function for llama_log_set.
func logCallback() uintptr {
	return purego.NewCallback(func(level int32, text *byte, _ uintptr) uintptr {
		logged.add(llama.LogLevel(level), goString(text))
		return 0
	})
}
