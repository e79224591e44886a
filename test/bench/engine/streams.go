package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Of the servers for many short streams: how many at once, and tokens for each.
const most, size = 64, 512

// window is how long a round of streams may take. What has not come by then is
// not counted, and a first token that has not has come with its end.
const window = 4 * time.Second

// throughput measures a number of streams at once.
func throughput(ctx context.Context, t *table) error {
	if !t.wanted("1 streams", "4 streams", "16 streams", "64 streams") {
		return nil
	}
	servers, stop, err := t.both(ctx, most, size)
	if err != nil {
		return err
	}
	defer stop()
	for _, c := range []struct{ streams, tokens int }{{1, 96}, {4, 64}, {16, 32}, {most, 16}} {
		if err := t.streams(ctx, servers, c.streams, c.tokens, "streams"); err != nil {
			return err
		}
	}
	return nil
}

// besideOthers measures while another process keeps all processors busy.
func besideOthers(ctx context.Context, t *table) error {
	if !t.wanted("1 streams, processors busy", "4 streams, processors busy") {
		return nil
	}
	servers, stop, err := t.both(ctx, most, size)
	if err != nil {
		return err
	}
	defer stop()
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	spinner := exec.CommandContext(ctx, exe, "-spin")
	if err := spinner.Start(); err != nil {
		return err
	}
	defer func() { _ = spinner.Process.Kill(); _ = spinner.Wait() }()
	for _, c := range []struct{ streams, tokens int }{{1, 48}, {4, 24}} {
		if err := t.streams(ctx, servers, c.streams, c.tokens, "streams, processors busy"); err != nil {
			return err
		}
	}
	return nil
}

// busy keeps all processors busy, for good.
func busy() {
	for range runtime.NumCPU() {
		go func() {
			for i := 0; ; i++ { // more than an empty loop, which looks like a mistake
			}
		}()
	}
	select {}
}

// streams compares the servers with that many streams at once.
func (t *table) streams(ctx context.Context, servers [2]*server, streams, tokens int, what string) error {
	name := fmt.Sprintf("%d %s", streams, what)
	if !t.wanted(name) {
		return nil
	}
	rows := []row{{name: name, unit: "tokens/s"}, {name: name + ", first token", unit: "ms", less: true}}
	return t.compare(ctx, servers, rows, func(ctx context.Context, s *server, round int) ([]float64, error) {
		ctx, cancel := context.WithTimeout(ctx, window)
		defer cancel()
		answers := make([]*answer, streams)
		errs := make([]error, streams)
		var wait sync.WaitGroup
		start := time.Now()
		for i := range streams {
			wait.Go(func() {
				answers[i], errs[i] = s.ask(ctx, request{question(round*len(name)+streams, i), tokens, i}, nil)
			})
		}
		wait.Wait()
		took := time.Since(start)
		total, first := 0, make([]float64, 0, streams)
		for i, a := range answers {
			if errs[i] != nil && ctx.Err() == nil {
				return nil, errs[i]
			}
			total += len(a.at)
			first = append(first, min(a.first(), window).Seconds()*1e3)
		}
		return []float64{float64(total) / took.Seconds(), median(first)}, nil
	})
}
