package route

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/stream"
	"dragoman/gateway/config"
)

// finder is a dialect whose servers a controller knows.
type finder struct {
	*dialect
	models func(ctx context.Context) ([]string, error)
	asked  int
}

func (*finder) Find(context.Context, adapters.Ask, string) (string, error) { return "", nil }

func (f *finder) Models(ctx context.Context, _ adapters.Ask) ([]string, error) {
	f.asked++
	return f.models(ctx)
}

// discoverer is a table with one wildcard entry of this name whose controller
// lists what models says.
func discoverer(t *testing.T, name, wanted string, models func(ctx context.Context) ([]string, error)) (*Table, *finder) {
	t.Helper()
	f := &finder{dialect: newDialect(adapters.Traits{Messages: true}), models: models}
	table, err := New(&config.Config{
		Adapters: map[string]adapters.Adapter{"it": f},
		Models: []config.Model{
			{Name: name, Backends: []config.Backend{{Adapter: "it", Controller: "http://h", Model: wanted}}},
			{Name: "own", Backends: []config.Backend{{Adapter: "it", URL: "http://h", Model: "own"}}},
		},
	}, Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return table, f
}

func ids(ctx context.Context, table *Table) []string {
	list := []string{}
	for _, m := range table.Models(ctx) {
		list = append(list, m.ID)
	}
	return list
}

func TestDiscoveredNames(t *testing.T) {
	f := func(name, wanted string, models []string, want ...string) {
		t.Helper()
		table, _ := discoverer(t, name, wanted, func(context.Context) ([]string, error) { return models, nil })
		defer table.Close(t.Context())
		if got := ids(t.Context(), table); !slices.Equal(got, append(want, "own")) {
			t.Errorf("%s, %s: listed %q", name, wanted, got)
		}
	}
	f("*", "*", []string{"vicuna", "alpaca", "vicuna", "own"}, "alpaca", "vicuna") // own is another entry's
	f("fc/*", "*", []string{"vicuna", "own"}, "fc/own", "fc/vicuna")
	f("vic*", "vic*", []string{"vicuna", "alpaca", "vic"}, "vicuna")
	f("v-*", "vicuna-*-v1.5", []string{"vicuna-7b-v1.5", "vicuna-7b", "vicuna--v1.5", "vicuna-v1.5"}, "v-7b")
	f("*", "vicuna", []string{"vicuna"}) // any name is the one model
	f("*", "*", nil)
}

// A list is asked for once for all who want it, again after a while, and the last
// is good until there is another.
func TestListIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		said, failure := []string{"one"}, error(nil)
		table, f := discoverer(t, "*", "*", func(ctx context.Context) ([]string, error) {
			select {
			case <-gate:
				return said, failure
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		defer table.Close(context.Background())
		first, leave := context.WithCancel(t.Context())
		results := make(chan []string, 10)
		ask := func(ctx context.Context) { results <- ids(ctx, table) }
		want := func(asked int, names ...string) {
			t.Helper()
			if got := <-results; !slices.Equal(got, append(names, "own")) || f.asked != asked {
				t.Errorf("listed %q after %d questions, want %q after %d", got, f.asked, names, asked)
			}
		}
		go ask(first)
		synctest.Wait()
		for range 5 {
			go ask(t.Context())
		}
		synctest.Wait()
		leave()
		want(1) // nothing is known yet
		close(gate)
		for range 5 {
			want(1, "one")
		}
		said = []string{"two"}
		time.Sleep(listFresh - time.Nanosecond)
		ask(t.Context())
		want(1, "one")
		time.Sleep(time.Nanosecond)
		ask(t.Context())
		want(2, "two")
		said, failure = nil, errors.New("refused")
		time.Sleep(listFresh)
		ask(t.Context())
		want(3, "two")
		gate = make(chan struct{}) // from now on it is silent
		time.Sleep(listFresh)
		start := time.Now()
		ask(t.Context())
		want(4, "two")
		if took := time.Since(start); took != listTimeout {
			t.Errorf("a silent controller cost %v", took)
		}
		ask(t.Context())
		want(4, "two")
	})
}

func TestDescribe(t *testing.T) {
	models, failure := []string(nil), errors.New("refused")
	table, _ := discoverer(t, "v-*", "*", func(context.Context) ([]string, error) { return models, failure })
	defer table.Close(t.Context())
	f := func(name string, exists bool) {
		t.Helper()
		info, err := table.Describe(t.Context(), name)
		if exists != (err == nil) || exists && (info.ID != name || info.Created == 0 || info.OwnedBy == "") {
			t.Errorf("%s: got %+v, %v", name, info, err)
		} else if !exists && asError(t, err).Code != "model_not_found" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	f("own", true)
	f("v-one", true) // who knows
	f("x", false)
	table, _ = discoverer(t, "v-*", "*", func(context.Context) ([]string, error) { return []string{"one"}, nil })
	defer table.Close(t.Context())
	f("own", true)
	f("v-one", true)
	f("v-two", false)
	f("one", false)
}

// A controller is not asked what one of its servers would be asked, as FastChat's
// would ask them all for that.
func TestProbeOfControllers(t *testing.T) {
	table, _ := discoverer(t, "*", "*", func(context.Context) ([]string, error) { return []string{"one"}, nil })
	defer table.Close(t.Context())
	if got := table.Probe(t.Context())[0]; got.Silent || got.Err != nil || !slices.Equal(got.Models, []string{"one"}) || got.Lacks != "" {
		t.Errorf("got %+v", got)
	}
	table, _ = discoverer(t, "two", "two", func(context.Context) ([]string, error) { return []string{"one"}, nil })
	defer table.Close(t.Context())
	if got := table.Probe(t.Context())[0]; got.Lacks != "two" {
		t.Errorf("got %+v", got)
	}
}

// A question that nobody waits for any more ends with the table.
func TestListEndsWithTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &controller{now: time.Now, up: &stream.Upstream{Log: slog.New(slog.DiscardHandler)}}
		c.finder = &finder{models: func(ctx context.Context) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() }}
		var stop context.CancelFunc
		c.ctx, stop = context.WithCancel(t.Context())
		gone, leave := context.WithCancel(t.Context())
		leave()
		if models, heard := c.list(gone); models != nil || heard {
			t.Errorf("got %q, %v", models, heard)
		}
		stop()
		c.running.Wait()
	})
}
