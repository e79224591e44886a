package route

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"dragoman/adapters/llm"
)

const (
	firstRest = time.Second     // after one failure; it doubles with each further one
	maxRest   = time.Minute     // however many there were
	maxAsked  = 5 * time.Minute // however long a backend asks to be left alone
)

// health is what a backend's answers say about it. After a failure the backend
// rests: others are asked in its place, until one request may try it again.
type health struct {
	mu     sync.Mutex
	failed int       // attempts in a row
	since  time.Time // of the last failure
	until  time.Time // it rests
	asked  bool      // for this rest, by a Retry-After
	last   *llm.Error
}

// rest returns how long the backend still rests, which is not positive if it
// does not; whether it asked for that; and the failure that began it.
func (h *health) rest(now time.Time) (left time.Duration, asked bool, last *llm.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.until.Sub(now), h.asked, h.last
}

// failing reports whether the last attempt failed.
func (h *health) failing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failed > 0
}

// try is called before an attempt, and reports whether there may be one. After a
// failure it lets the backend rest on, so that only one request finds out whether
// it is back.
func (h *health) try(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.until.After(now) {
		return false
	}
	h.restOn(now)
	return true
}

// force is called before an attempt that is made even though the backend rests.
func (h *health) force(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.restOn(now)
}

func (h *health) restOn(now time.Time) {
	if h.failed > 0 {
		h.until, h.asked = now.Add(pause(h.failed)), false
	}
}

// good is called when the backend has begun to answer.
func (h *health) good() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed, h.until, h.asked, h.last = 0, time.Time{}, false, nil
}

// bad is called when the attempt that began at start has failed. Attempts that
// ran side by side count as one: a backend that dies fails them all.
func (h *health) bad(start, now time.Time, e *llm.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed == 0 || !start.Before(h.since) {
		h.failed++
	}
	h.since, h.last = now, e
	if asked := retryAfter(e.RetryAfter, now); asked > 0 {
		h.until, h.asked = now.Add(asked), true
	} else if !h.asked || !h.until.After(now) {
		h.until, h.asked = now.Add(pause(h.failed)), false
	}
}

// pause returns how long a backend rests after so many failures in a row.
func pause(failed int) time.Duration {
	return min(firstRest<<min(failed-1, 10), maxRest)
}

// retryAfter returns how long a Retry-After asks to wait, at most maxAsked; 0 if
// it does not (RFC 9110, 10.2.3).
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(seconds, 0), int(maxAsked/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxAsked)
}
