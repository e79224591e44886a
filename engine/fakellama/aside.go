package fakellama

import (
	"cmp"
	"fmt"
	"slices"

	"dragoman/engine/sched"
)

// Aside is a memory aside of Model. Set its fields before use.
type Aside struct {
	Model *Model
	// OnRead, if set, is called with each part before it is read. It may block, and
	// its error is Read's.
	OnRead func(pos int, tokens []int32, alone bool) error
	// Refuses makes Start fail, and Loses makes Finish fail.
	Refuses, Loses bool
	// Share is what Part returns; 0: a half.
	Share float64

	held    []int32
	packed  []int32
	started bool
}

// Start implements sched.Aside.
func (a *Aside) Start(seq int) bool {
	if a.started {
		panic("two prompts aside")
	}
	if a.Refuses {
		return false
	}
	a.lock()
	defer a.Model.mu.Unlock()
	a.started, a.held, a.packed = true, nil, nil
	if s := a.Model.seqs[seq]; s != nil {
		a.held = slices.Clone(s.tokens)
	}
	return true
}

// Read implements sched.Aside.
func (a *Aside) Read(pos int, tokens []int32, alone bool) error {
	if pos != len(a.held) || len(tokens) == 0 || len(tokens) > sched.AsideTokens || !a.started {
		panic(fmt.Sprintf("%d tokens at %d, where %d are", len(tokens), pos, len(a.held)))
	}
	if a.OnRead != nil {
		if err := a.OnRead(pos, tokens, alone); err != nil {
			return err
		}
	}
	a.held = append(a.held, tokens...)
	return nil
}

// Pack implements sched.Aside.
func (a *Aside) Pack() error {
	a.packed = a.held
	return nil
}

// Finish implements sched.Aside.
func (a *Aside) Finish(seq int) bool {
	a.lock()
	defer a.Model.mu.Unlock()
	a.started = false
	delete(a.Model.seqs, seq)
	if a.Loses {
		return false
	}
	a.Model.seqs[seq] = &sequence{tokens: a.packed}
	return true
}

// lock locks the model, whose copies must have been made.
func (a *Aside) lock() {
	a.Model.mu.Lock()
	if a.Model.copied {
		panic("between a Copy and the next Decode")
	}
}

// Drop implements sched.Aside.
func (a *Aside) Drop() { a.started = false }

// Part implements sched.Aside.
func (a *Aside) Part() float64 { return cmp.Or(a.Share, 0.5) }
