package route

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/gateway/config"
)

// weighed returns a group of backends a, b, ... with these weights and slots.
func weighed(slots int, weights ...int) *group {
	g := &group{entry: &config.Model{Name: "m"}, now: time.Now}
	for i, weight := range weights {
		g.backends = append(g.backends, &backend{name: string(rune('a' + i)), weight: weight, slots: newSlots(slots)})
	}
	return g
}

// turns takes n times and returns the names.
func turns(t *testing.T, g *group, n int) string {
	t.Helper()
	var got strings.Builder
	for range n {
		b, err := g.take(t.Context(), g.backends)
		if err != nil {
			t.Fatal(err)
		}
		if b == nil {
			return got.String() + "-"
		}
		got.WriteString(b.name)
	}
	return got.String()
}

func TestTurnsGoByWeight(t *testing.T) {
	f := func(want string, weights ...int) {
		t.Helper()
		if got := turns(t, weighed(0, weights...), len(want)); got != want {
			t.Errorf("%v: got %s, want %s", weights, got, want)
		}
	}
	f("aaaa", 1)
	f("abababab", 1, 1)
	f("abcabc", 5, 5, 5)
	f("aabaaaba", 3, 1)
	f("abaacabaabaacaba", 5, 2, 1)
	f("aaaaaaaa", 1, 0)
	f("bcbcbcbc", 0, 1, 1)
}

func TestWhoRestsHasNoTurn(t *testing.T) {
	g := weighed(0, 3, 1, 0, 0)
	now := time.Now()
	g.now = func() time.Time { return now }
	f := func(want string) {
		t.Helper()
		if got := turns(t, g, 4); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	fail := func(i int) { g.backends[i].health.bad(now, now, llm.Upstream(http.StatusBadGateway, "", "ill")) }
	f("aaba")
	fail(0)
	f("bbbb")
	fail(1)
	f("cdcd") // weight 0: only now, and by turns
	fail(2)
	fail(3)
	f("-")
	now = now.Add(time.Second)
	f("abcd") // one request tries each
}

func TestAFreeSlotIsPreferred(t *testing.T) {
	g := weighed(2, 3, 1, 0)
	if got := turns(t, g, 4); got != "aabb" {
		t.Errorf("got %s", got)
	}
}

// TestAllBusy: the first slot that comes free is taken, whoever has it, in the
// order in which requests came; a spare backend is no way around the queue.
func TestAllBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weighed(1, 3, 1, 0)
		turns(t, g, 2)
		type taken struct {
			request int
			name    string
		}
		got := make(chan taken, 3)
		for i := range 3 {
			go func() {
				if b, err := g.take(t.Context(), g.backends); err == nil {
					got <- taken{i, b.name}
				}
			}()
			synctest.Wait() // it is in the queue
		}
		for i, b := range []*backend{g.backends[1], g.backends[0], g.backends[1]} {
			b.slots.release()
			if g := <-got; g != (taken{i, b.name}) {
				t.Errorf("request %d: got %v, want %s", i, g, b.name)
			}
		}
	})
}

func TestBC067AClientThatGoesLeavesAllQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weighed(1, 1, 1)
		turns(t, g, 2)
		gone := errors.New("the client is gone")
		ctx, leave := context.WithCancelCause(t.Context())
		left := make(chan error)
		go func() {
			_, err := g.take(ctx, g.backends)
			left <- err
		}()
		synctest.Wait()
		leave(gone)
		if err := <-left; !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
		for _, b := range g.backends {
			b.slots.release()
		}
		if got := turns(t, g, 2); got != "ab" && got != "ba" {
			t.Errorf("got %s", got)
		}
	})
}

// TestAQueueMovesOn: those who wait for a backend that fails go to another.
func TestAQueueMovesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := weighed(1, 1, 1)
		turns(t, g, 2)
		got := make(chan string)
		go func() {
			if b, err := g.take(t.Context(), g.backends); err == nil {
				got <- b.name
			}
		}()
		synctest.Wait()
		now := time.Now()
		g.backends[0].health.bad(now, now, llm.Upstream(http.StatusBadGateway, "", "ill"))
		g.backends[0].slots.release()
		synctest.Wait()
		g.backends[1].slots.release()
		if name := <-got; name != "b" || len(g.backends[0].slots) != 0 {
			t.Errorf("got %s", name)
		}
	})
}

// TestSlotsOfSeveral: whatever fails, at no time has a backend more requests than
// it takes, and no slot is lost.
func TestSlotsOfSeveral(t *testing.T) {
	var list []config.Backend
	var stations []*station
	for range 3 {
		running, most := 0, 0
		var mu sync.Mutex
		add := func(n int) bool {
			mu.Lock()
			defer mu.Unlock()
			running += n
			most = max(most, running)
			return (running+most)%3 == 0
		}
		s := newStation(t, func(w http.ResponseWriter, r *http.Request) {
			fail := add(1)
			defer add(-1)
			if fail {
				w.WriteHeader(http.StatusInternalServerError)
			}
			says("fine\n")(w, r)
		})
		stations = append(stations, s)
		list = append(list, config.Backend{URL: s.url, MaxConcurrent: 2})
		t.Cleanup(func() {
			if most > 2 {
				t.Errorf("%d at once", most)
			}
		})
	}
	f := newFleet(t, backends("m", list...))
	var all sync.WaitGroup
	for range 60 {
		all.Go(func() {
			s, err := pick(t, f.table, "m").Open(t.Context(), chat("hi"))
			if err != nil {
				if e := (*llm.Error)(nil); !errors.As(err, &e) || e.Status != 502 {
					t.Error(err)
				}
				return
			}
			for err == nil {
				_, err = s.Next(nil)
			}
			s.Close()
			f.pass(time.Second)
		})
	}
	all.Wait()
	for i, b := range f.table.groups[0].backends {
		if n := len(b.slots); n != 0 {
			t.Errorf("%d slots are still held", n)
		}
		if stations[i].was() == 0 {
			t.Errorf("backend %d was never asked", i)
		}
	}
}

func TestNewNamesTheBackendThatItCannotBuild(t *testing.T) {
	it := newDialect(adapters.Traits{})
	_, err := New(&config.Config{
		Adapters: map[string]adapters.Adapter{"it": it},
		Models: []config.Model{
			{Name: "a", Path: "models.a", Backends: []config.Backend{
				{Adapter: "it", Template: "chatml"},
				{Adapter: "it", Template: "broken.jinja", TemplateFile: "testdata/broken.jinja"},
			}},
			{Name: "b", Path: "models.b", Fallback: []string{"a", "gone"}, Backends: []config.Backend{{Adapter: "it", Template: "chatml"}}},
		},
	}, Options{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"models.a.backends[1].template: ", `models.b.fallback: no model "gone"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

// TestFallbacksInOrder: each is followed by its own, and none is asked twice.
func TestFallbacksInOrder(t *testing.T) {
	entry := func(name string, fallback ...string) config.Model {
		return falls(backends(name, config.Backend{URL: "http://h", Model: "*"}), fallback...)
	}
	f := newFleet(t, entry("m", "a", "x/1", "x/2", "d"), entry("a", "c", "x/1"), entry("c", "d"), entry("d"), entry("x/*", "d"))
	var got []string
	for _, s := range pick(t, f.table, "m").steps {
		got = append(got, s.entry.Name+s.star)
	}
	if want := "m a c d x/*1 x/*2"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if got := pick(t, f.table, "x/9").steps; len(got) != 2 || got[0].star != "9" || got[1].entry.Name != "d" {
		t.Errorf("got %v", got)
	}
}
