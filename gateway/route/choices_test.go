package route

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/config"
)

// choir is a backend each of whose calls is answered when the test says so.
type choir struct {
	mu      sync.Mutex
	singing int // calls under way
	most    int
	calls   chan *call
}

// call is one of them.
type call struct {
	lines chan string // what it answers; closing it is a proper end
	gone  <-chan struct{}
}

func newChoir() *choir { return &choir{calls: make(chan *call, 200)} }

func (c *choir) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	c.mu.Lock()
	c.singing++
	c.most = max(c.most, c.singing)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.singing--
		c.mu.Unlock()
	}()
	one := &call{make(chan string, 10), r.Context().Done()}
	c.calls <- one
	for {
		select {
		case <-one.gone:
			return
		case line, more := <-one.lines:
			if !more {
				return
			}
			if line == "#cut" {
				panic(http.ErrAbortHandler)
			}
			_, _ = io.WriteString(w, line+"\n")
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// several returns a request for n choices.
func several(n int) *llm.Request {
	r := chat("hi")
	r.N, r.Needs = n, []llm.Need{{Field: "n", Path: "n"}}
	r.Raw = []byte(`3`)
	r.Members = []llm.Member{{Name: "n", End: 1}}
	return r
}

// single is a model m behind a dialect of one choice, with max slots.
func single(t *testing.T, h http.Handler, slots int) (*Model, *dialect) {
	t.Helper()
	d := newDialect(adapters.Traits{Messages: true, SingleChoice: true})
	table := one(t, d, config.Backend{URL: serve(t, h.ServeHTTP), MaxConcurrent: slots})
	return pick(t, table, "m"), d
}

// gather reads an answer to its end, closes it, and returns the texts by choice.
func gather(t *testing.T, s stream.Source) []string {
	t.Helper()
	a, err := stream.Collect(s, 1<<20)
	s.Close()
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for i, c := range a.Choices {
		if c.Index != i || c.Finish != llm.FinishStop {
			t.Errorf("choice %d is %+v", i, c)
		}
		texts = append(texts, string(c.Text))
	}
	return texts
}

// wantFree fails the test unless the backend has n free slots.
func wantFree(t *testing.T, m *Model, n int) {
	t.Helper()
	if s := only(m).slots; cap(s)-len(s) != n {
		t.Errorf("%d of %d slots are taken", len(s), cap(s))
	}
}

func TestChoicesAreAskedForOneByOne(t *testing.T) {
	n := 0
	m, d := single(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { n++; _, _ = fmt.Fprintf(w, "answer %d\n", n) }), 1)
	r := several(3)
	r.Params[llm.Seed] = "7"
	s, err := m.Open(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	wantFree(t, m, 0)
	if got, want := gather(t, s), []string{"answer 1", "answer 2", "answer 3"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	wantFree(t, m, 1)
	for _, seed := range []string{"7", "8", "9"} {
		if got := <-d.got; got.N != 1 || got.Params[llm.Seed] != seed || len(got.Needs) != 0 || len(got.Members) != 0 {
			t.Errorf("the backend was asked %+v", got)
		}
	}
	if r.N != 3 || r.Params[llm.Seed] != "7" || len(r.Members) != 1 {
		t.Errorf("the caller's request was changed: %+v", r)
	}
	if len(d.got) != 0 {
		t.Errorf("%d more requests", len(d.got))
	}
}

func TestChoicesSideBySide(t *testing.T) {
	f := func(slots, n, most int) {
		t.Helper()
		c := newChoir()
		m, _ := single(t, c, slots)
		done := make(chan struct{})
		go func() { // answers only when so many have come as may come at once
			defer close(done)
			for begun := 0; begun < n; {
				var group []*call
				for range min(most, n-begun) {
					group = append(group, <-c.calls)
					begun++
					if begun == 1 {
						group[0].lines <- "first" // only then there are others
					}
				}
				for i, one := range group {
					if begun > most || i > 0 {
						one.lines <- "text"
					}
					close(one.lines)
				}
			}
		}()
		s, err := m.Open(t.Context(), several(n))
		if err != nil {
			t.Fatal(err)
		}
		if got := gather(t, s); len(got) != n || got[0] != "first" || strings.Join(got[1:], "") != strings.Repeat("text", n-1) {
			t.Errorf("%d slots: got %q", slots, got)
		}
		<-done
		if c.most > most {
			t.Errorf("%d slots: %d calls at once", slots, c.most)
		}
		if slots > 0 {
			wantFree(t, m, slots)
		}
	}
	f(2, 5, 2)
	f(4, 4, 4)
	f(9, 3, 3)
	f(0, 20, sideBySide)
}

// Where one fails, the answer has failed, and the others are called off.
func TestOneChoiceFailsForAll(t *testing.T) {
	c := newChoir()
	m, _ := single(t, c, 3)
	go func() { (<-c.calls).lines <- "first" }()
	s, err := m.Open(t.Context(), several(4))
	if err != nil {
		t.Fatal(err)
	}
	two, three := <-c.calls, <-c.calls
	two.lines <- "second"
	var texts []string
	for len(texts) < 2 {
		events, err := s.Next(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			texts = append(texts, fmt.Sprintf("%v %s", ev.Choice > 0, ev.Text))
		}
	}
	if slices.Sort(texts); !slices.Equal(texts, []string{"false first", "true second"}) {
		t.Errorf("got %q", texts)
	}
	three.lines <- "#cut"
	if _, err = s.Next(nil); asError(t, err).Status != 502 {
		t.Errorf("got %v", err)
	}
	if _, again := s.Next(nil); again != err {
		t.Errorf("then %v", again)
	}
	s.Close()
	<-two.gone
	wantFree(t, m, 3)
	if len(c.calls) > 0 {
		t.Error("the fourth choice was asked for")
	}
}

func TestFirstChoiceFails(t *testing.T) {
	bad, good := newStation(t, status(503)), newStation(t, says("fine\n"))
	f := newFleet(t, backends("m", bad.backend(), good.backend()))
	for range 2 {
		s, err := pick(t, f.table, "m").Open(t.Context(), several(2))
		if err != nil {
			t.Fatal(err)
		}
		if got := gather(t, s); !slices.Equal(got, []string{"fine", "fine"}) {
			t.Errorf("got %q", got)
		}
	}
	if bad.was() != 1 || good.was() != 4 {
		t.Error("not each choice was asked for once")
	}
}

func TestChoicesEndWithTheirClient(t *testing.T) {
	c := newChoir()
	m, _ := single(t, c, 2)
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	go func() { (<-c.calls).lines <- "first" }()
	s, err := m.Open(ctx, several(3))
	if err != nil {
		t.Fatal(err)
	}
	other := <-c.calls
	if _, err := s.Next(nil); err != nil {
		t.Fatal(err)
	}
	leave(gone)
	if _, err := s.Next(nil); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	s.Close()
	<-other.gone
	wantFree(t, m, 2)

	go func() { (<-c.calls).lines <- "first" }()
	if s, err = m.Open(t.Context(), several(3)); err != nil { // nobody reads a word
		t.Fatal(err)
	}
	s.Close()
	wantFree(t, m, 2)
}

// A backend that knows n is asked once; one whose n is dropped gives one choice.
func TestChoicesInOneCall(t *testing.T) {
	f := func(traits adapters.Traits, drop []string, n int) {
		t.Helper()
		d := newDialect(traits)
		m := pick(t, one(t, d, config.Backend{URL: serve(t, says("x\n")), Drop: drop}), "m")
		s, err := m.Open(t.Context(), several(3))
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if got := <-d.got; got.N != n || len(d.got) != 0 {
			t.Errorf("asked for %d choices, and %d times more", got.N, len(d.got))
		}
	}
	f(adapters.Traits{Messages: true, Accepts: []string{"n"}}, nil, 3)
	f(adapters.Traits{Messages: true}, []string{"n"}, 1)
}

// counts is a dialect that counts each line, and breaks at "#panic".
type counts struct{ *dialect }

func (c counts) Decoder(*llm.Request) adapters.Decoder { return c }

func (counts) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if string(fr.Data) == "#panic" {
		panic("the adapter broke")
	}
	u := llm.Usage{Prompt: 10, Cached: 4, Completion: len(fr.Data), Reasoning: 1, Has: true}
	return append(dst, llm.Event{Text: fr.Data, Usage: u}), nil
}

func TestChoicesAreCounted(t *testing.T) {
	c := newChoir()
	m := pick(t, one(t, counts{newDialect(adapters.Traits{Messages: true})}, config.Backend{URL: serve(t, c.ServeHTTP), MaxConcurrent: 1}), "m")
	go func() {
		for _, text := range []string{"a", "bcd", "ef"} {
			one := <-c.calls
			one.lines <- text
			close(one.lines)
		}
	}()
	s, err := m.Open(t.Context(), several(3))
	if err != nil {
		t.Fatal(err)
	}
	gather(t, s)
	if got, want := s.Usage(), (llm.Usage{Prompt: 10, Cached: 4, Completion: 6, Reasoning: 3, Has: true}); got != want {
		t.Errorf("got %+v", got)
	}
}

// A panic is thrown where the answer is read, where it is caught.
func TestChoicesPanicWhereTheyAreRead(t *testing.T) {
	c := newChoir()
	m := pick(t, one(t, counts{newDialect(adapters.Traits{Messages: true})}, config.Backend{URL: serve(t, c.ServeHTTP), MaxConcurrent: 1}), "m")
	go func() {
		first := <-c.calls
		first.lines <- "a"
		close(first.lines)
		(<-c.calls).lines <- "#panic"
	}()
	s, err := m.Open(t.Context(), several(2))
	if err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if p := recover(); p != "the adapter broke" {
				t.Errorf("caught %v", p)
			}
		}()
		_, err := stream.Collect(s, 1<<20)
		t.Errorf("got to the end, %v", err)
	}()
	s.Close()
	wantFree(t, m, 1)
}
