package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sizes of long prompts in words, each about a token.
const (
	conversation = 1950
	reading      = 3950
	room         = 8192 // tokens for a stream
)

// endless is a prompt whose likeliest answer goes on and on.
var endless = strings.Repeat("dog cat ", 40)

// turns measures a conversation's second turn against its first, and what a
// stream feels while another's long prompt is read.
func turns(ctx context.Context, t *table) error {
	if !t.wanted("turn", "gap") {
		return nil
	}
	servers, stop, err := t.both(ctx, 4, room)
	if err != nil {
		return err
	}
	defer stop()
	if trained, err := t.trained(servers[0]); err != nil || trained < room {
		return err // the model was made for shorter texts
	}
	if err := t.secondTurn(ctx, servers); err != nil {
		return err
	}
	return t.gap(ctx, servers)
}

func (t *table) secondTurn(ctx context.Context, servers [2]*server) error {
	if !t.wanted("turn") {
		return nil
	}
	rows := []row{
		{name: "first turn of 2,000 tokens, first token", unit: "ms", less: true},
		{name: "second turn, first token", unit: "ms", less: true},
		{name: "first turn / second turn", unit: "times"},
	}
	return t.compare(ctx, servers, rows, func(ctx context.Context, s *server, round int) ([]float64, error) {
		prompt := chat(fmt.Sprint(round, " ", s.name, long(conversation, uint64(round))))
		one, err := s.ask(ctx, request{prompt, 16, 1}, nil)
		if err != nil {
			return nil, err
		}
		two, err := s.ask(ctx, request{prompt + one.text + "<|im_end|>\n" + chat("Is that so?"), 16, 1}, nil)
		if err != nil {
			return nil, err
		}
		a, b := one.first().Seconds()*1e3, two.first().Seconds()*1e3
		return []float64{a, b, a / b}, nil
	})
}

func (t *table) gap(ctx context.Context, servers [2]*server) error {
	if !t.wanted("gap") {
		return nil
	}
	rows := []row{
		{name: "gap between a stream's tokens, median", unit: "ms", less: true},
		{name: "the same, p99", unit: "ms", less: true},
		{name: "the same, while 4,000 tokens are read, median", unit: "ms", less: true},
		{name: "the same, p99", unit: "ms", less: true},
		{name: "the same, longest", unit: "ms", less: true},
		{name: "reading the 4,000 tokens meanwhile", unit: "ms", less: true},
	}
	return t.compare(ctx, servers, rows, func(ctx context.Context, s *server, round int) ([]float64, error) {
		stream, cancel := context.WithCancel(ctx)
		defer cancel()
		const before = 48 // tokens of the stream until the prompt comes
		type outcome struct {
			a   *answer
			err error
		}
		read := make(chan outcome, 1)
		var at []time.Time
		var reader outcome
		count := func() {
			at = append(at, time.Now())
			if len(at) == before {
				go func() {
					a, err := s.ask(ctx, request{chat(fmt.Sprint(round, " ", s.name, long(reading, uint64(100+round)))), 1, 1}, nil)
					read <- outcome{a, err}
				}()
			}
			select {
			case reader = <-read:
				cancel() // nothing more is wanted of the stream
			default:
			}
		}
		_, err := s.ask(stream, request{endless, room - reading, greedy}, count)
		if reader.a == nil || reader.err != nil {
			return nil, fmt.Errorf("the stream ended after %d tokens, before the prompt was read: %v, %v", len(at), err, reader.err)
		}
		first := reader.a.at[0]
		during := gaps(slices.DeleteFunc(at[before-1:], func(t time.Time) bool { return t.After(first.Add(time.Millisecond)) }))
		if len(during) == 0 { // not one token came meanwhile
			during = []float64{reader.a.first().Seconds() * 1e3}
		}
		// A stream slows down as it grows: the same tokens once more, alone.
		again, err := s.ask(ctx, request{endless, before + len(during), greedy}, nil)
		if err != nil {
			return nil, err
		}
		alone := gaps(again.at[before-1:])
		return []float64{
			median(alone), alone[len(alone)*99/100],
			median(during), during[len(during)*99/100], slices.Max(during), reader.a.first().Seconds() * 1e3,
		}, nil
	})
}

// gaps returns the times between tokens in ms, sorted.
func gaps(at []time.Time) []float64 {
	var list []float64
	for i := 1; i < len(at); i++ {
		list = append(list, at[i].Sub(at[i-1]).Seconds()*1e3)
	}
	slices.Sort(list)
	return list
}
