package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// format is a line of the table.
const format = "%-58s %-26s %-26s %s\n"

// table measures and prints the rows of one model.
type table struct {
	settings
	model string
}

// row is a measurement of both servers.
type row struct {
	name     string
	unit     string
	less     bool // the lower, the better
	measures [2][]float64
}

func (r *row) add(which int, value float64) { r.measures[which] = append(r.measures[which], value) }

// wanted reports whether any of the rows shall be measured.
func (t *table) wanted(names ...string) bool {
	return slices.ContainsFunc(names, t.only.MatchString)
}

// compare runs rounds in which the servers take turns, and prints the rows that
// measure gives values for.
func (t *table) compare(ctx context.Context, servers [2]*server, rows []row, measure func(ctx context.Context, s *server, round int) ([]float64, error)) error {
	for round := range t.rounds {
		for i := range servers {
			which := (i + round) % 2 // neither is always first
			rest()
			limited, cancel := context.WithTimeout(ctx, max(t.limit, 3*t.window))
			values, err := measure(limited, servers[which], round)
			late := limited.Err() != nil
			cancel()
			if late && ctx.Err() == nil {
				fmt.Printf(format, rows[0].name, "", "", servers[which].name+" took longer than "+max(t.limit, 3*t.window).String())
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s, round %d of %s: %w", rows[0].name, round+1, servers[which].name, err)
			}
			for i := range rows {
				rows[i].add(which, values[i])
			}
		}
	}
	for i := range rows {
		rows[i].print()
	}
	return nil
}

// rest lets the server that was asked last come to rest: llama-server's threads
// spin for a third of a second after their work, on processors that the other
// one wants.
func rest() { time.Sleep(time.Second) }

// print writes a line of the table.
func (r *row) print() {
	var ratios []float64
	for i, value := range r.measures[0] {
		ratio := value / r.measures[1][i]
		if r.less {
			ratio = 1 / ratio
		}
		ratios = append(ratios, ratio)
	}
	fmt.Printf(format, r.name+", "+r.unit, spread(r.measures[0]), spread(r.measures[1]), figure(median(ratios)))
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	if len(values) == 0 {
		return 0
	}
	return (values[len(values)/2] + values[(len(values)-1)/2]) / 2
}

// spread tells the median, and the lowest and the highest value.
func spread(values []float64) string {
	return figure(median(values)) + " (" + figure(slices.Min(values)) + " to " + figure(slices.Max(values)) + ")"
}

// figure has three digits that count, or all before the point.
func figure(value float64) string {
	switch {
	case value >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', 2, 64)
}
