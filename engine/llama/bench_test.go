//go:build llama

package llama

import (
	"fmt"
	"os"
	"testing"

	"dragoman/engine/sample"
	"dragoman/engine/sched"
	"dragoman/engine/stories"
)

// BenchmarkStep is one step of llama.cpp for so many sequences with 100 tokens
// each, and the choice of the likeliest token: what the engine's own work is
// measured against. DRAGOMAN_BENCH_MODEL names another model than the built-in
// one.
func BenchmarkStep(b *testing.B) {
	file := os.Getenv("DRAGOMAN_BENCH_MODEL")
	if file == "" {
		var err error
		if file, err = stories.Path(b.TempDir()); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := Load(libDir()); err != nil {
		b.Fatal(err)
	}
	for _, threads := range []int{1, 2, 0} {
		for _, sequences := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("threads=%d/sequences=%d", threads, sequences), func(b *testing.B) {
				m, err := Open(Options{File: file, Context: 512, Parallel: 16, Batch: 512, Threads: threads, Device: "cpu"})
				if err != nil {
					b.Fatal(err)
				}
				defer m.Close()
				steps(b, m, sequences)
			})
		}
	}
}

// steps decodes, and forgets what it decoded, again and again.
func steps(b *testing.B, m *Model, sequences int) {
	const read = 100
	var batch []sched.Item
	for seq := range sequences {
		for pos := range read {
			batch = append(batch, sched.Item{Seq: seq, Pos: pos, Token: int32(10 + pos)})
		}
		if err := m.Decode(batch); err != nil {
			b.Fatal(err)
		}
		batch = batch[:0]
	}
	for seq := range sequences {
		batch = append(batch, sched.Item{Seq: seq, Pos: read, Token: 20, Logits: true})
	}
	greedy := sample.New(sample.Params{}, nil, nil)
	for b.Loop() {
		if err := m.Decode(batch); err != nil {
			b.Fatal(err)
		}
		for i := range batch {
			logits, err := m.Logits(i)
			if err != nil {
				b.Fatal(err)
			}
			greedy.Pick(logits)
			m.Trim(i, read)
		}
	}
}
