//go:build llama

package llama

import (
	"slices"
	"testing"
)

// story is a prompt of n tokens.
func story(n int) (tokens []int32) {
	for i := range n {
		tokens = append(tokens, int32(300+i*7%500))
	}
	return tokens
}

// goOn returns the n likeliest tokens after what seq holds, which is read up to
// pos, and token.
func goOn(t *testing.T, m *Model, seq, pos int, token int32, n int) (tokens []int32) {
	t.Helper()
	for range n {
		token = next(t, m, seq, pos, token)
		tokens = append(tokens, token)
		pos++
	}
	return tokens
}

func TestWhatIsReadAsideIsLikeReadInASequence(t *testing.T) {
	f := func(name string, opt Options) {
		t.Run(name, func(t *testing.T) {
			opt.Context, opt.Parallel, opt.Batch, opt.Threads = 512, 3, 512, 2
			m := openBuiltin(t, opt)
			a := m.aside
			if a == nil {
				t.Fatal("there is no memory aside")
			}
			prompt, other := story(300), story(40)
			last := len(prompt) - 1
			next(t, m, 0, 0, prompt[:50]...)
			for pos := 50; pos < last; pos += 100 { // flash attention rounds by the part
				next(t, m, 0, pos, prompt[pos:min(pos+100, last)]...)
			}
			want := goOn(t, m, 0, last, prompt[last], 20)
			next(t, m, 2, 0, other...)
			wantOther := goOn(t, m, 2, len(other), 310, 20)
			for seq := range 2 { // the others remember something, and go on meanwhile
				m.Trim(2, len(other))
				m.Trim(seq, 0)
				next(t, m, seq, 0, prompt[:50]...)
				if !a.begin(seq) {
					t.Fatal("it does not start")
				}
				read := make(chan error, 1)
				go func() {
					for pos := 50; pos < last; pos += 100 {
						if err := a.Read(pos, prompt[pos:min(pos+100, last)], false); err != nil {
							read <- err
							return
						}
					}
					read <- a.Pack()
				}()
				if got := goOn(t, m, 2, len(other), 310, 20); !slices.Equal(got, wantOther) {
					t.Errorf("the other one goes on with %v, want %v", got, wantOther)
				}
				if err := <-read; err != nil {
					t.Fatal(err)
				}
				if !a.Finish(seq) {
					t.Fatal("it does not finish")
				}
				if got := goOn(t, m, seq, last, prompt[last], 20); !slices.Equal(got, want) {
					t.Errorf("sequence %d goes on with %v, want %v", seq, got, want)
				}
			}
		})
	}
	f("as usual", Options{})
	f("flash attention", Options{FlashAttention: "on"})
	f("short types", Options{FlashAttention: "on", CacheK: "q8_0", CacheV: "q8_0"})
}

func TestADroppedPromptLeavesNothing(t *testing.T) {
	m := openBuiltin(t, Options{Context: 512, Parallel: 3, Batch: 512, Threads: 2})
	a, prompt := m.aside, story(100)
	next(t, m, 0, 0, prompt[:99]...)
	want := goOn(t, m, 0, 99, prompt[99], 10)
	for range 2 {
		if !a.begin(1) {
			t.Fatal("it does not start")
		}
		if err := a.Read(0, prompt[:70], true); err != nil {
			t.Fatal(err)
		}
		a.Drop()
	}
	if m.threads.lent != 0 {
		t.Error("threads are still lent")
	}
	if !a.begin(1) || a.Read(0, prompt[:99], true) != nil || a.Pack() != nil || !a.Finish(1) {
		t.Fatal("it does not work again")
	}
	if got := goOn(t, m, 1, 99, prompt[99], 10); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhereThereIsNoMemoryAside(t *testing.T) {
	f := func(opt Options) {
		t.Helper()
		opt.Context, opt.Batch = 256, 64
		if m := openBuiltin(t, opt); m.Aside() != nil {
			t.Errorf("%+v: there is one", opt)
		}
	}
	f(Options{Parallel: 1, Threads: 2})
	f(Options{Parallel: 2, Threads: 1})
}
