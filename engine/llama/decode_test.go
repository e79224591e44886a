//go:build llama

package llama

import (
	"os"
	"path/filepath"
	"testing"

	"dragoman/engine/sample"
	"dragoman/engine/sched"
	"dragoman/engine/stories"
)

// libDir is where llama.cpp's libraries are.
func libDir() string {
	if dir := os.Getenv("DRAGOMAN_LLAMA_LIB"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "bin", "lib")
}

func openBuiltin(t *testing.T, opt Options) *Model {
	t.Helper()
	var err error
	if opt.File, err = stories.Path(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(libDir()); err != nil {
		t.Fatal(err)
	}
	opt.Device = "cpu"
	m, err := Open(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// next returns the likeliest token after those that seq is given from pos on.
func next(t *testing.T, m *Model, seq, pos int, tokens ...int32) int32 {
	t.Helper()
	var batch []sched.Item
	for i, id := range tokens {
		batch = append(batch, sched.Item{Seq: seq, Pos: pos + i, Token: id, Logits: i == len(tokens)-1})
	}
	if err := m.Decode(batch); err != nil {
		t.Fatal(err)
	}
	logits, err := m.Logits(len(batch) - 1)
	if err != nil {
		t.Fatal(err)
	}
	return sample.New(sample.Params{}, nil, nil).Pick(logits).ID
}

func TestTheNumberOfThreadsChangesNoAnswer(t *testing.T) {
	m := openBuiltin(t, Options{Context: 256, Parallel: 1, Batch: 64, Threads: 1})
	if poolNew.Addr == 0 {
		t.Error("these libraries have no thread pools")
	}
	tokens := []int32{1, 300, 301, 302, 303}
	want := next(t, m, 0, 0, tokens...)
	for _, n := range []int{2, 1, 3, 2} {
		m.threads.set(m.ctx, n)
		m.Trim(0, 0)
		if got := next(t, m, 0, 0, tokens...); got != want {
			t.Errorf("%d threads: got token %d, want %d", n, got, want)
		}
	}
}

func TestTrimAndCopy(t *testing.T) {
	m := openBuiltin(t, Options{Context: 256, Parallel: 3, Batch: 64, Threads: 1})
	tokens := []int32{1, 300, 301, 302, 303, 304, 305, 306}
	want := next(t, m, 0, 0, tokens...)
	next(t, m, 0, len(tokens), 310, 311, 312)
	if !m.Trim(0, 5) {
		t.Fatal("the end of a sequence was not forgotten")
	}
	if got := next(t, m, 0, 5, tokens[5:]...); got != want {
		t.Errorf("after trimming: got token %d, want %d", got, want)
	}
	next(t, m, 2, 0, 7, 8, 9) // to be overwritten
	if !m.Copy(0, 2) || !m.Trim(2, 4) {
		t.Fatal("a sequence was not copied")
	}
	if got := next(t, m, 2, 4, tokens[4:]...); got != want {
		t.Errorf("in a copy: got token %d, want %d", got, want)
	}
	if err := m.Decode(make([]sched.Item, 65)); err == nil {
		t.Error("a batch too large was taken")
	}
}
