package declared

import (
	"errors"
	"strconv"
	"strings"

	"dragoman/adapters/jsonscan"
)

// whole is the path of the frame itself.
const whole = "."

// splitPath cuts a path at its dots. The whole frame is no steps at all.
func splitPath(path string) ([]string, error) {
	if path == whole {
		return nil, nil
	}
	var steps []string
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path):
			i++
			b.WriteByte(path[i])
		case c == '.':
			steps = append(steps, b.String())
			b.Reset()
		case strings.IndexByte(`#*?|@$[]{}()!%<>="'\`, c) >= 0:
			return nil, errors.New("a path is names and list positions joined by dots, such as choices.0.text; put \\ before any other sign")
		default:
			b.WriteByte(c)
		}
	}
	steps = append(steps, b.String())
	for _, s := range steps {
		if s == "" {
			return nil, errors.New("the path has an empty part")
		}
	}
	return steps, nil
}

// finder finds the values at several paths in one pass over a frame.
type finder struct {
	root branch
	n    int
}

// branch is the part of all paths that follows one step.
type branch struct {
	slots []int // the values wanted here, by their place in the result
	next  []step
	last  int // the highest list position among next; -1 if there is none
}

type step struct {
	name     string
	position int // -1 if name is no list position
	branch   *branch
}

// add returns the place that the value at path will have in find's result.
func (f *finder) add(steps []string) int {
	b := &f.root
	if f.n == 0 {
		b.last = -1
	}
	for _, name := range steps {
		b = b.follow(name)
	}
	b.slots = append(b.slots, f.n)
	f.n++
	return f.n - 1
}

func (b *branch) follow(name string) *branch {
	for _, s := range b.next {
		if s.name == name {
			return s.branch
		}
	}
	position, err := strconv.Atoi(name)
	if err != nil || position < 0 || position > 1000 {
		position = -1
	}
	s := step{name, position, &branch{last: -1}}
	b.next = append(b.next, s)
	b.last = max(b.last, position)
	return s.branch
}

// find sets found[i], for every path i, to the value there; it leaves alone
// what is not there. data must be valid JSON.
func (f *finder) find(data []byte, found [][]byte) { f.root.find(data, found) }

func (b *branch) find(value []byte, found [][]byte) {
	for _, i := range b.slots {
		found[i] = value
	}
	if len(b.next) == 0 || len(value) == 0 {
		return
	}
	switch value[0] {
	case '{':
		for name, v := range jsonscan.All(value) {
			for i := range b.next {
				if s := &b.next[i]; string(name) == s.name {
					s.branch.find(v, found)
				}
			}
		}
	case '[':
		position := 0
		if b.last < 0 {
			return
		}
		for v := range jsonscan.Elements(value) {
			for i := range b.next {
				if s := &b.next[i]; position == s.position {
					s.branch.find(v, found)
				}
			}
			if position++; position > b.last {
				return
			}
		}
	}
}
