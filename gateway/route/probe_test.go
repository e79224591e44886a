package route

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"dragoman/adapters"
)

// askable is the dialect with questions for health and models.
func askable() adapters.Traits {
	return adapters.Traits{
		Messages: true,
		Health:   adapters.Question{Path: "/health", Field: "status", Is: []string{"READY", "BUSY"}},
		Models:   adapters.Question{Path: "/models", Field: "data.#.id"},
	}
}

// clinic is a backend that is asked how it is.
func clinic(health, models http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/health":
			health(w, r)
		case "/models":
			models(w, r)
		default:
			says("fine\n")(w, r)
		}
	}
}

func TestProbe(t *testing.T) {
	ready, list := says(`{"status":"READY"}`), says(`{"data":[{"id":"a"},{"id":"models/m"},{"id":7}]}`)
	f := func(health, models http.HandlerFunc, down, lacks string, names ...string) {
		t.Helper()
		m := backends("m")
		m.Backends = append(m.Backends, newStation(t, clinic(health, models)).backend())
		m.Backends[0].Adapter = "asked"
		got := newFleet(t, m).table.Probe(t.Context())[0]
		if (got.Err == nil) != (down == "") || got.Err != nil && !strings.Contains(got.Err.Error(), down) {
			t.Errorf("got %v, want %q", got.Err, down)
		}
		if got.Lacks != lacks || !slices.Equal(got.Models, names) || got.Backend != "m" || got.Adapter != "asked" {
			t.Errorf("got %+v", got)
		}
	}
	f(ready, list, "", "", "a", "models/m")
	f(says(`{"status":"BUSY"}`), says(`{"data":[{"id":"x"}]}`), "", "m", "x")
	f(says(`{"status":"SETUP_FAILED"}`), list, "SETUP_FAILED", "")
	f(status(503), list, "503", "")
	f(status(404), list, "", "", "a", "models/m")
	f(says("nonsense"), list, "nonsense", "")
	f(ready, status(500), "500", "")
	f(ready, says(`{"data":"none"}`), "", "")
	f(hangsUp, list, "connection", "")
}

func TestProbeOfThoseThatCannotBeAsked(t *testing.T) {
	f := newFleet(t, backends("m", newStation(t, says("fine\n")).backend()))
	if got := f.table.Probe(t.Context()); len(got) != 1 || !got[0].Silent || got[0].Err != nil {
		t.Errorf("got %+v", got)
	}
}

// TestAskedBeforeItIsTried: a backend that has failed gets no request until it
// says that it is well.
func TestAskedBeforeItIsTried(t *testing.T) {
	health := "LOADING"
	answers := 0
	s := newStation(t, hangsUp)
	first, second := s.backend(), newStation(t, says("other\n")).backend()
	first.Adapter = "asked"
	f := newFleet(t, backends("m", first, second))
	for range 2 {
		f.want("other") // the first one fails in one of these
	}
	s.does(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/health" {
			answers++
			says("fine\n")(w, r)
			return
		}
		says(`{"status":"`+health+`"}`)(w, r)
	})
	f.pass(maxRest)
	for range 2 {
		f.want("other")
	}
	if n := answers; n != 0 || s.was() == 0 {
		t.Errorf("%d requests while it was loading", n)
	}
	health = "READY"
	f.pass(maxRest)
	var said []string
	for range 2 {
		stream, err := f.open()
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, text(t, stream))
	}
	if !slices.Contains(said, "fine") || answers != 1 {
		t.Errorf("got %q after it was well again, with %d answers", said, answers)
	}
}
