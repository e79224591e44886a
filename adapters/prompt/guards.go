package prompt

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/ardanlabs/jinja"
)

// guards are the names of the functions that normalize writes into a template.
// They are random, so that a template cannot replace them.
type guards struct{ tick, enter, leave, size, format string }

func newGuards() *guards {
	name := func() string { return "g" + rand.Text() }
	return &guards{tick: name(), enter: name(), leave: name(), size: name(), format: name()}
}

// limits bound one rendering.
type limits struct {
	steps int // loop turns, macro calls, elements of ranges, kilobytes assigned
	depth int // of macros and recursive loops
	bytes int // of one assigned string
	time  time.Duration
}

var defaultLimits = limits{steps: 1_000_000, depth: 500, bytes: 16 << 20, time: 2 * time.Second}

const maxRange = 100_000 // elements; as in jinja2's sandbox

// meter counts what one rendering uses.
type meter struct {
	limits
	end   time.Time
	macro int // how many are open
}

// spend takes n steps from what is left.
func (m *meter) spend(n int) error {
	before := m.steps
	if m.steps -= n; m.steps < 0 {
		return errors.New("the template takes too many steps")
	}
	// Reading the clock costs as much as a step does.
	if before>>4 != m.steps>>4 && time.Now().After(m.end) {
		return errors.New("the template runs too long")
	}
	return nil
}

func (m *meter) tick(args []jinja.Value) error {
	if len(args) == 1 && args[0].IsInt() && args[0].AsInt() > int64(m.depth) {
		return errors.New("loops recurse too deep")
	}
	return m.spend(1)
}

func (m *meter) enter([]jinja.Value) error {
	if m.macro++; m.macro > m.depth {
		return errors.New("macros are nested too deep")
	}
	return m.spend(1)
}

func (m *meter) leave([]jinja.Value) error {
	m.macro--
	return nil
}

// size is called with what a statement assigned: doubling a string in a loop
// takes few steps and all memory.
func (m *meter) size(args []jinja.Value) error {
	cost := 0
	for _, v := range args {
		switch {
		case v.IsString() && len(v.AsString()) > m.bytes:
			return errors.New("the template makes a string that is too large")
		case v.IsString():
			cost += len(v.AsString()) >> 10
		case v.IsList():
			cost += v.AsList().Len() >> 3
		}
	}
	return m.spend(cost)
}

// install adds the functions of a new rendering to vars.
func (g *guards) install(vars map[string]jinja.Value, l limits) {
	m := &meter{limits: l, end: time.Now().Add(l.time)}
	empty := jinja.NewString("")
	add := func(name string, check func([]jinja.Value) error) {
		vars[name] = jinja.NewCallable(name, func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
			return empty, check(args)
		})
	}
	add(g.tick, m.tick)
	add(g.enter, m.enter)
	add(g.leave, m.leave)
	add(g.size, m.size)
	vars[g.format] = formatter
	vars["range"] = jinja.NewCallable("range", func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
		list, err := rangeOf(args)
		if err == nil {
			err = m.spend(len(list))
		}
		return jinja.NewList(list), err
	})
}

// rangeOf is Python's range, which the library would build at any length.
func rangeOf(args []jinja.Value) ([]jinja.Value, error) {
	bounds := [3]int64{0, 0, 1}
	if len(args) == 0 || len(args) > len(bounds) {
		return nil, errors.New("range takes one to three numbers")
	}
	for i, v := range args {
		if !v.IsInt() {
			return nil, errors.New("range takes whole numbers")
		}
		bounds[i] = v.AsInt()
	}
	if len(args) == 1 {
		bounds[0], bounds[1] = 0, bounds[0]
	}
	at, stop, step := bounds[0], bounds[1], bounds[2]
	if step == 0 {
		return nil, errors.New("range's step must not be 0")
	}
	list := []jinja.Value{}
	for (step > 0 && at < stop) || (step < 0 && at > stop) {
		if len(list) == maxRange {
			return nil, errors.New("range is too long")
		}
		list = append(list, jinja.NewInt(at))
		next := at + step
		if (next > at) != (step > 0) {
			break // beyond int64
		}
		at = next
	}
	return list, nil
}
