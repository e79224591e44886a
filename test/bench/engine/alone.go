package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"dragoman/engine/llama"
	"dragoman/engine/prompt"
	"dragoman/engine/sched"
)

// Of one stream on one thread: tokens in memory when the clock starts, and
// tokens then generated.
const depth, generated = 256, 128

// decodeAlone tells what the engine adds to llama.cpp's own work: llama-bench
// calls it and nothing else, the loop does so through engine/llama and takes the
// likeliest token, and the engine is asked over HTTP.
func decodeAlone(ctx context.Context, t *table) error {
	const name = "decoding alone"
	if !t.wanted(name) {
		return nil
	}
	e, err := t.startEngine(ctx, 1, 2*(depth+generated), "-threads", "1")
	if err != nil {
		return err
	}
	defer e.stop()
	m, err := t.open()
	if err != nil {
		return err
	}
	defer m.Close()
	var bench, loop, engine, ofLoop, ofBench []float64
	for round := range t.rounds {
		a, err := t.llamaBench(ctx)
		if err != nil {
			return err
		}
		b, err := loopRate(m, round)
		if err != nil {
			return err
		}
		c, err := engineRate(ctx, e, round)
		if err != nil {
			return err
		}
		bench, loop, engine = append(bench, a), append(loop, b), append(engine, c)
		ofLoop, ofBench = append(ofLoop, c/b), append(ofBench, c/a)
	}
	fmt.Printf("%s, 1 thread, %d tokens after about %d: tokens/s\n", name, generated, depth)
	fmt.Printf("  llama-bench %s, loop of the binding %s, engine %s\n", spread(bench), spread(loop), spread(engine))
	fmt.Printf("  engine / loop %s, engine / llama-bench %s\n", figure(median(ofLoop)), figure(median(ofBench)))
	return nil
}

func (t *table) llamaBench(ctx context.Context) (float64, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(t.llama, "llama-bench"), "-m", t.model, "-t", "1", "-p", "0",
		"-n", strconv.Itoa(generated), "-d", strconv.Itoa(depth), "-r", "1", "-o", "json").Output()
	if err != nil {
		return 0, fmt.Errorf("llama-bench: %w", err)
	}
	var results []struct {
		Rate float64 `json:"avg_ts"`
	}
	if err := json.Unmarshal(out, &results); err != nil || len(results) != 1 {
		return 0, fmt.Errorf("llama-bench prints %q", out)
	}
	return results[0].Rate, nil
}

func (t *table) open() (*llama.Model, error) {
	if _, err := llama.Load(t.lib); err != nil {
		return nil, err
	}
	return llama.Open(llama.Options{File: t.model, Context: 2 * (depth + generated), Parallel: 1, Batch: 512, Threads: 1, Device: "cpu"})
}

// loopRate decodes in this process.
func loopRate(m *llama.Model, round int) (float64, error) {
	tokens, err := m.Tokenize([]prompt.Piece{{Text: long(depth, uint64(round))}})
	if err != nil {
		return 0, err
	}
	tokens = tokens[:min(len(tokens), depth)]
	m.Trim(0, 0)
	batch := make([]sched.Item, 0, depth)
	for i, id := range tokens {
		batch = append(batch, sched.Item{Pos: i, Token: id, Logits: i == len(tokens)-1})
	}
	var start time.Time
	for i := range generated + 1 {
		if err := m.Decode(batch); err != nil {
			return 0, err
		}
		logits, err := m.Logits(len(batch) - 1)
		if err != nil {
			return 0, err
		}
		best := 0
		for id, logit := range logits {
			if logit > logits[best] {
				best = id
			}
		}
		if i == 0 {
			start = time.Now()
		}
		batch = append(batch[:0], sched.Item{Pos: len(tokens) + i, Token: int32(best), Logits: true})
	}
	return generated / time.Since(start).Seconds(), nil
}

// engineRate asks the engine for the same.
func engineRate(ctx context.Context, e *server, round int) (float64, error) {
	a, err := e.ask(ctx, request{long(depth, uint64(round)), generated + 1, greedy}, nil)
	if err != nil {
		return 0, err
	}
	last := len(a.at) - 1
	return float64(last) / a.at[last].Sub(a.at[0]).Seconds(), nil
}
