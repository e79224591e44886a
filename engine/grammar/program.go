package grammar

import (
	"errors"
	"fmt"
)

// Bounds of a grammar.
const (
	maxCode = 1 << 18 // instructions
	maxDeep = 1000    // nesting of expressions
)

// Grammar is a compiled grammar. It is read-only and safe for concurrent use.
type Grammar struct {
	code    []inst
	sets    []byteSet
	counts  []count
	classes [256]uint8 // bytes of one class are in the same sets
	class   [256]byte  // a byte of each class
	n       int        // classes
}

// inst is an instruction. It goes on with the next one unless it says otherwise.
type inst struct {
	op   op
	x, y int32
}

type op uint8

const (
	opByte   op = iota // take a byte of sets[x]
	opSplit            // go on at x and at y
	opJump             // go on at x
	opCall             // go on at x, and after the next return behind this
	opReturn           // go on behind the last call
	opPush             // begin to count
	opTest             // by counts[y]: go on behind this for another round, or stop counting and go on at x, or both
	opNext             // count a round by counts[y], go on at x
)

// count is how often something is repeated; noMax is no bound.
type count struct{ min, max int32 }

// rules are a grammar's rules. The first is the root.
type rules struct {
	names []string
	exprs []*expr
}

// add reserves a rule, whose expression may be set later.
func (r *rules) add(name string) *expr {
	r.names = append(r.names, name)
	r.exprs = append(r.exprs, nil)
	return &expr{kind: ref, rule: len(r.names) - 1}
}

// A RuleError says which rule makes a grammar unusable.
type RuleError struct {
	Rule string
	Why  string
}

func (e *RuleError) Error() string { return fmt.Sprintf("rule %s %s", e.Rule, e.Why) }

var errTooLarge = errors.New("the grammar is too large")

// compile makes a program of the rules. What can never end is left out; if
// nothing remains, or a rule begins with itself, that is a *RuleError.
func compile(r *rules) (*Grammar, error) {
	if err := prune(r); err != nil {
		return nil, err
	}
	c := &compiler{g: &Grammar{}, sets: map[byteSet]int32{}, starts: make([]int32, len(r.exprs))}
	for i, e := range r.exprs {
		c.starts[i] = int32(len(c.g.code))
		if err := c.expr(e, 0); err != nil {
			return nil, err
		}
		c.emit(opReturn, 0, 0)
	}
	for i := range c.g.code {
		if in := &c.g.code[i]; in.op == opCall {
			in.x = c.starts[in.x]
		}
	}
	c.g.classify()
	return c.g, nil
}

type compiler struct {
	g      *Grammar
	sets   map[byteSet]int32
	starts []int32 // of the rules
}

func (c *compiler) emit(o op, x, y int32) int32 {
	c.g.code = append(c.g.code, inst{o, x, y})
	return int32(len(c.g.code) - 1)
}

// here is the place of the next instruction.
func (c *compiler) here() int32 { return int32(len(c.g.code)) }

func (c *compiler) expr(e *expr, depth int) error {
	if len(c.g.code) > maxCode || depth > maxDeep {
		return errTooLarge
	}
	switch e.kind {
	case oneByte:
		at, ok := c.sets[e.set]
		if !ok {
			at = int32(len(c.g.sets))
			c.g.sets = append(c.g.sets, e.set)
			c.sets[e.set] = at
		}
		c.emit(opByte, at, 0)
	case ref:
		c.emit(opCall, int32(e.rule), 0)
	case sequence:
		for _, one := range e.list {
			if err := c.expr(one, depth+1); err != nil {
				return err
			}
		}
	case choice:
		return c.choice(e.list, depth)
	case repeat:
		return c.repeat(e, depth)
	}
	return nil
}

func (c *compiler) choice(list []*expr, depth int) error {
	var ends []int32
	for i, one := range list {
		last := i == len(list)-1
		split := c.here()
		if !last {
			c.emit(opSplit, split+1, 0)
		}
		if err := c.expr(one, depth+1); err != nil {
			return err
		}
		if !last {
			ends = append(ends, c.emit(opJump, 0, 0))
			c.g.code[split].y = c.here()
		}
	}
	for _, at := range ends {
		c.g.code[at].x = c.here()
	}
	return nil
}

func (c *compiler) repeat(e *expr, depth int) error {
	switch body := e.list[0]; {
	case e.max == 0:
		return nil
	case e.min == 1 && e.max == 1:
		return c.expr(body, depth+1)
	case e.min == 0 && e.max == 1, e.min == 0 && e.max == noMax:
		split := c.emit(opSplit, c.here()+1, 0)
		if err := c.expr(body, depth+1); err != nil {
			return err
		}
		if e.max == noMax {
			c.emit(opJump, split, 0)
		}
		c.g.code[split].y = c.here()
		return nil
	default:
		n := int32(len(c.g.counts))
		c.g.counts = append(c.g.counts, count{int32(e.min), int32(e.max)})
		c.emit(opPush, 0, 0)
		test := c.emit(opTest, 0, n)
		if err := c.expr(body, depth+1); err != nil {
			return err
		}
		c.emit(opNext, test, n)
		c.g.code[test].x = c.here()
		return nil
	}
}

// classify finds out which bytes no set tells apart.
func (g *Grammar) classify() {
	size := [256]int{256}
	g.n = 1
	for _, s := range g.sets {
		var in, to [256]int // of each class: how many bytes are in s, and where they go
		for c := range 256 {
			if s.has(byte(c)) {
				in[g.classes[c]]++
			}
		}
		old := g.n
		for class := range old {
			if to[class] = class; in[class] > 0 && in[class] < size[class] {
				to[class] = g.n
				size[class] -= in[class]
				size[g.n] = in[class]
				g.n++
			}
		}
		for c := range 256 {
			if s.has(byte(c)) {
				g.classes[c] = uint8(to[g.classes[c]])
			}
		}
	}
	for c := range 256 {
		g.class[g.classes[c]] = byte(c)
	}
}
