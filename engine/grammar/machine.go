package grammar

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

// Bounds of what a machine does and keeps.
const (
	maxThreads = 1 << 12 // ways to read a text at one time
	maxSteps   = 1 << 17 // instructions for one token, whatever is tried for it
	maxStates  = 1 << 13 // that are kept for later
)

var errTooHard = errors.New("the grammar can be read in too many ways")

// machine runs a grammar, and remembers how.
type machine struct {
	g      *Grammar
	nodes  []node // stacks: each is a node and, below it, its parent; 0 is the empty one
	byNode map[node]int32
	states []state // 0 is the one in which nothing may come
	moves  []int32 // by state and class of byte: the next state, or unknown
	byKey  map[string]int32
	steps  int // left for this token
	err    error

	threads []thread // scratch
	seen    map[thread]bool
	todo    []thread
	key     []byte
	final   bool
}

// node is the top of a stack: where to return to, or how often something came.
type node struct{ parent, value int32 }

// thread is one way to read the text: the next instruction, and the stack.
type thread struct{ pc, stack int32 }

// state is all ways to read a text together. Its threads wait for a byte.
type state struct {
	threads []thread
	final   bool // the text may end here
}

const unknown = -1

func newMachine(g *Grammar) *machine {
	m := &machine{g: g, seen: map[thread]bool{}, steps: maxSteps}
	m.forget()
	return m
}

// forget empties the memory.
func (m *machine) forget() {
	m.nodes, m.byNode = []node{{}}, map[node]int32{}
	m.states, m.byKey = []state{{}}, map[string]int32{}
	m.moves = make([]int32, m.g.n)
}

// start returns the state before any text.
func (m *machine) start() int32 {
	m.begin()
	m.follow(thread{0, 0})
	return m.intern()
}

// next returns the state after one more byte.
func (m *machine) next(from int32, c byte) int32 {
	class := m.g.classes[c]
	if to := m.moves[int(from)*m.g.n+int(class)]; to != unknown {
		return to
	}
	return m.move(from, class)
}

// move finds out where a byte of that class leads.
func (m *machine) move(from int32, class uint8) int32 {
	m.begin()
	for _, t := range m.states[from].threads {
		if m.g.sets[m.g.code[t.pc].x].has(m.g.class[class]) {
			m.follow(thread{t.pc + 1, t.stack})
		}
	}
	to := m.intern()
	m.moves[int(from)*m.g.n+int(class)] = to
	return to
}

// begin empties the scratch space for the threads of a state.
func (m *machine) begin() {
	m.threads, m.final = m.threads[:0], false
	clear(m.seen)
}

// follow runs a thread up to where it waits for bytes, and adds what it becomes.
func (m *machine) follow(t thread) {
	m.todo = append(m.todo[:0], t)
	for len(m.todo) > 0 {
		t := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		if m.seen[t] {
			continue
		}
		m.seen[t] = true
		if m.steps--; m.steps < 0 || len(m.threads) > maxThreads {
			m.err = errTooHard
			return
		}
		switch in := m.g.code[t.pc]; in.op {
		case opByte:
			m.threads = append(m.threads, t)
		case opSplit:
			m.todo = append(m.todo, thread{in.y, t.stack}, thread{in.x, t.stack})
		case opJump:
			m.todo = append(m.todo, thread{in.x, t.stack})
		case opCall:
			if m.g.code[t.pc+1].op != opReturn { // else the caller's caller will do
				t.stack = m.push(t.stack, t.pc+1)
			}
			m.todo = append(m.todo, thread{in.x, t.stack})
		case opReturn:
			if t.stack == 0 {
				m.final = true
				continue
			}
			top := m.nodes[t.stack]
			m.todo = append(m.todo, thread{top.value, top.parent})
		case opPush:
			m.todo = append(m.todo, thread{t.pc + 1, m.push(t.stack, 0)})
		case opTest:
			top, limit := m.nodes[t.stack], m.g.counts[in.y]
			if top.value >= limit.min {
				m.todo = append(m.todo, thread{in.x, top.parent})
			}
			if top.value < limit.max || limit.max == noMax {
				m.todo = append(m.todo, thread{t.pc + 1, t.stack})
			}
		case opNext:
			top, limit := m.nodes[t.stack], m.g.counts[in.y]
			n := top.value + 1
			if limit.max == noMax {
				n = min(n, limit.min) // more makes no difference
			}
			m.todo = append(m.todo, thread{in.x, m.push(top.parent, n)})
		}
	}
}

// push returns the stack with one more value.
func (m *machine) push(stack, value int32) int32 {
	n := node{stack, value}
	at, ok := m.byNode[n]
	if !ok {
		at = int32(len(m.nodes))
		m.nodes = append(m.nodes, n)
		m.byNode[n] = at
	}
	return at
}

// intern returns the state of the threads in the scratch space.
func (m *machine) intern() int32 {
	if m.err != nil || len(m.threads) == 0 && !m.final {
		return 0
	}
	slices.SortFunc(m.threads, func(a, b thread) int { return cmp.Or(cmp.Compare(a.pc, b.pc), cmp.Compare(a.stack, b.stack)) })
	m.key = m.key[:0]
	for _, t := range m.threads {
		m.key = binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(m.key, uint32(t.pc)), uint32(t.stack))
	}
	if m.final {
		m.key = append(m.key, 1)
	}
	at, ok := m.byKey[string(m.key)]
	if !ok {
		at = int32(len(m.states))
		m.states = append(m.states, state{threads: slices.Clone(m.threads), final: m.final})
		m.byKey[string(m.key)] = at
		for range m.g.n {
			m.moves = append(m.moves, unknown)
		}
	}
	return at
}

// renew forgets everything but one state, whose new name it returns.
func (m *machine) renew(at int32) int32 {
	s, nodes := m.states[at], m.nodes
	m.forget()
	m.begin()
	var path []int32
	for _, t := range s.threads {
		path = path[:0]
		for n := t.stack; n != 0; n = nodes[n].parent {
			path = append(path, nodes[n].value)
		}
		stack := int32(0)
		for _, value := range slices.Backward(path) {
			stack = m.push(stack, value)
		}
		m.threads = append(m.threads, thread{t.pc, stack})
	}
	m.final = s.final
	return m.intern()
}
