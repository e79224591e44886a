package route

import (
	"net/http"
	"testing"
	"time"

	"dragoman/adapters/llm"
)

var (
	hour  = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	ill   = llm.Upstream(http.StatusBadGateway, "", "it is ill")
	after = func(s string) *llm.Error {
		e := llm.Upstream(http.StatusServiceUnavailable, "", "it is busy")
		e.RetryAfter = s
		return e
	}
)

func TestRestsGrow(t *testing.T) {
	var h health
	now := hour
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		want *= time.Second
		h.try(now)
		h.bad(now, now, ill)
		if left, asked, last := h.rest(now); left != want || asked || last != ill {
			t.Errorf("failure %d: got %v, %v, %v; want %v", i+1, left, asked, last, want)
		}
		now = now.Add(want)
	}
	h.good()
	if left, _, last := h.rest(now); left > 0 || last != nil {
		t.Errorf("it rests for %v after an answer", left)
	}
	h.bad(now, now, ill)
	if left, _, _ := h.rest(now); left != time.Second {
		t.Errorf("got %v after an answer and a failure", left)
	}
}

// What fails together counts once.
func TestFailuresSideBySide(t *testing.T) {
	var h health
	for i := range 100 {
		h.bad(hour, hour.Add(time.Duration(i+1)), ill)
	}
	if h.failed != 1 {
		t.Errorf("%d failures", h.failed)
	}
}

// Only one request finds out whether a backend is back.
func TestOneTries(t *testing.T) {
	var h health
	h.try(hour)
	if left, _, _ := h.rest(hour); left > 0 {
		t.Error("it rests without a failure")
	}
	h.bad(hour, hour, ill)
	later := hour.Add(time.Second)
	if left, _, _ := h.rest(later); left > 0 {
		t.Error("it still rests")
	}
	if !h.try(later) || h.try(later) {
		t.Error("not just one may try it")
	}
	if left, _, _ := h.rest(later); left != time.Second {
		t.Errorf("it rests for %v while it is tried", left)
	}
	h.bad(later, later.Add(time.Second/2), ill)
	if h.failed != 2 {
		t.Errorf("%d failures", h.failed)
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	f := func(value string, want time.Duration, asked bool) {
		t.Helper()
		var h health
		h.bad(hour, hour, after(value))
		if left, did, _ := h.rest(hour); left != want || did != asked {
			t.Errorf("%q: got %v, %v", value, left, did)
		}
	}
	f("7", 7*time.Second, true)
	f("", time.Second, false)
	f("0", time.Second, false)
	f("-5", time.Second, false)
	f("soon", time.Second, false)
	f("86400", maxAsked, true)
	f("999999999", maxAsked, true)
	f("Mon, 30 Nov 2026 12:00:30 GMT", 30*time.Second, true)
	f("Mon, 30 Nov 2026 11:00:00 GMT", time.Second, false)
	f("Tue, 30 Nov 2027 11:00:00 GMT", maxAsked, true)

	// A failure beside it does not shorten what was asked for.
	var h health
	h.bad(hour, hour, after("20"))
	h.bad(hour, hour.Add(time.Second), ill)
	if left, asked, _ := h.rest(hour); left != 20*time.Second || !asked {
		t.Errorf("got %v, %v", left, asked)
	}
}

func TestBackendRestsAndComesBack(t *testing.T) {
	one, two := newStation(t, status(500)), newStation(t, says("two\n"))
	f := newFleet(t, backends("m", one.backend(), two.backend()))
	for range 10 {
		f.want("two")
	}
	if n := one.was(); n != 1 {
		t.Errorf("the ill one was asked %d times", n)
	}
	f.pass(time.Second)
	for range 10 {
		f.want("two")
	}
	if n := one.was(); n != 1 {
		t.Errorf("the ill one was tried %d times", n)
	}
	one.does(says("one\n"))
	f.pass(2 * time.Second)
	two.was()
	for range 10 {
		if s, err := f.open(); err != nil {
			t.Error(err)
		} else {
			text(t, s)
		}
	}
	if a, b := one.was(), two.was(); a < 4 || b < 4 {
		t.Errorf("%d and %d turns after it came back", a, b)
	}
}

// TestAllHaveAskedForRest: then nobody is disturbed, and the client is told why,
// and when the first is to be asked again.
func TestAllHaveAskedForRest(t *testing.T) {
	one, two := newStation(t, status(429, "Retry-After", "20")), newStation(t, status(503, "Retry-After", "9"))
	f := newFleet(t, backends("m", one.backend(), two.backend()))
	f.fails()
	f.pass(1500 * time.Millisecond)
	if e := f.fails(); e.Status != 503 || e.RetryAfter != "8" || e.Message == "" {
		t.Errorf("got %+v", e)
	}
	if a, b := one.was(), two.was(); a != 1 || b != 1 {
		t.Errorf("asked %d and %d times", a, b)
	}
	two.does(says("two\n"))
	f.pass(7500 * time.Millisecond)
	f.want("two")

	// A fallback that fails changes nothing in what the client is told.
	three := newStation(t, status(500))
	f = newFleet(t, falls(backends("m", one.backend()), "n"), backends("n", three.backend()))
	for range 2 {
		if e := f.fails(); e.Status != 429 || e.RetryAfter != "20" {
			t.Errorf("got %+v", e)
		}
	}
}

// TestIllOnesAreTheLastResort: one request that no backend can stand does not
// lock the others out.
func TestIllOnesAreTheLastResort(t *testing.T) {
	one, two := newStation(t, status(500)), newStation(t, status(500))
	f := newFleet(t, backends("m", one.backend(), two.backend()))
	for range 4 {
		f.fails()
	}
	// The first request asks both, each further one the one that is to be back first.
	if a, b := one.was(), two.was(); a != 3 || b != 2 {
		t.Errorf("asked %d and %d times", a, b)
	}
	one.does(says("fine\n"))
	two.does(says("fine\n"))
	f.want("fine")

	// Those of a fallback too, if the model itself has asked for rest.
	busy, late := newStation(t, status(429, "Retry-After", "20")), newStation(t, status(500))
	f = newFleet(t, falls(backends("m", busy.backend()), "n"), backends("n", late.backend()))
	f.fails()
	late.does(says("late\n"))
	f.want("late")
	late.does(status(500))
	for range 2 { // the client hears of the model that it asked for
		if e := f.fails(); e.Status != 429 {
			t.Errorf("got %+v", e)
		}
	}
	if n := late.was(); n != 4 {
		t.Errorf("asked %d times", n)
	}
}

// TestWhatIsTheClientsOwnBlamesNobody: its key, names that only a wildcard has
// let through, completions.
func TestWhatIsTheClientsOwnBlamesNobody(t *testing.T) {
	request := chat("hi")
	f := func(name string, do http.HandlerFunc, forward bool, auth string, asked int) {
		t.Helper()
		bad, good := newStation(t, do), newStation(t, says("good\n"))
		own, other := bad.backend(), good.backend()
		own.ForwardAuth = forward
		own.Adapter, other.Adapter = "both", "both"
		table := newFleet(t, backends(name, own, other)).table
		for range 6 {
			s, err := pick(t, table, "m").Open(WithAuthorization(t.Context(), auth), request)
			if err != nil {
				t.Fatal(err)
			}
			text(t, s)
		}
		if n := bad.was(); n != asked {
			t.Errorf("%s: asked %d times, want %d", name, n, asked)
		}
	}
	f("m", status(401), false, "Bearer x", 1)
	f("m", status(401), true, "", 1)
	f("m", status(401), true, "Bearer x", 3)
	f("m", status(429), true, "Bearer x", 3)
	f("m", status(429), false, "Bearer x", 1)
	f("m", status(503), true, "Bearer x", 1)
	f("m", status(404), false, "", 1)
	f("*", status(404), false, "", 3)
	request = &llm.Request{Kind: llm.Completion, Model: "m", N: 1, Prompt: llm.Prompt{{Text: "once"}}}
	f("m", status(404), false, "", 3)
	f("m", status(500), false, "", 1)
}
