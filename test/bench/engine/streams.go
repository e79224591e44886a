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

// load is what is asked of a server at once.
type load struct {
	streams, tokens int // tokens of each stream
	windows         int // how long it may take
	short           int // every other stream has only so many tokens; 0: as many
}

// throughput measures a number of streams at once.
func throughput(ctx context.Context, t *table) error {
	if !t.wanted("1 stream", "4 streams", "16 streams", "64 streams", "16 streams, every other a short one") {
		return nil
	}
	servers, stop, err := t.both(ctx, most, size)
	if err != nil {
		return err
	}
	defer stop()
	for _, c := range []load{{streams: 1, tokens: 96, windows: 1}, {streams: 4, tokens: 64, windows: 1}, {streams: 16, tokens: 32, windows: 2}, {streams: most, tokens: 12, windows: 3}} {
		if err := t.streams(ctx, servers, c, ""); err != nil {
			return err
		}
	}
	return t.streams(ctx, servers, load{streams: 16, tokens: 64, windows: 3, short: 4}, ", every other a short one")
}

// besideOthers measures while another process keeps all processors busy.
func besideOthers(ctx context.Context, t *table) error {
	if !t.wanted("1 stream, processors busy", "4 streams, processors busy") {
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
	for _, c := range []load{{streams: 1, tokens: 48, windows: 1}, {streams: 4, tokens: 24, windows: 1}} {
		if err := t.streams(ctx, servers, c, ", processors busy"); err != nil {
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

// streams compares the servers with that many streams at once. What has not come
// by the end of the window is not counted, and a first token that has not has
// come with its end.
func (t *table) streams(ctx context.Context, servers [2]*server, l load, what string) error {
	name := "1 stream" + what
	if l.streams > 1 {
		name = fmt.Sprintf("%d streams%s", l.streams, what)
	}
	window := time.Duration(l.windows) * t.window
	if !t.wanted(name) {
		return nil
	}
	rows := []row{{name: name, unit: "tokens/s"}, {name: name + ", first token", unit: "ms", less: true}}
	return t.compare(ctx, servers, rows, func(ctx context.Context, s *server, round int) ([]float64, error) {
		ctx, cancel := context.WithTimeout(ctx, window)
		defer cancel()
		answers := make([]*answer, l.streams)
		errs := make([]error, l.streams)
		var wait sync.WaitGroup
		start := time.Now()
		for i := range l.streams {
			tokens := l.tokens
			if l.short > 0 && i%2 == 1 {
				tokens = l.short
			}
			wait.Go(func() {
				answers[i], errs[i] = s.ask(ctx, request{question(round*len(name)+l.streams, i), tokens, i}, nil)
			})
		}
		wait.Wait()
		took := time.Since(start)
		total, first := 0, make([]float64, 0, l.streams)
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
