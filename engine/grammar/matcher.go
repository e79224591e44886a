package grammar

import "math"

// Matcher follows one answer through a grammar. It is not safe for concurrent
// use.
type Matcher struct {
	v  *Vocabulary
	m  *machine
	at int32   // the state after the answer so far
	on []int32 // scratch: states after the bytes of a token

	masks map[int32][]uint64 // by state: answers come back to the same few, such as within a text
}

// maxMasks bounds how many masks are kept; each has a bit for every token.
const maxMasks = 32

// NewMatcher returns the matcher of an answer that has not begun.
func (g *Grammar) NewMatcher(v *Vocabulary) *Matcher {
	m := &Matcher{v: v, m: newMachine(g), masks: map[int32][]uint64{}}
	m.at = m.m.start()
	return m
}

// Allows reports whether the token may come next.
func (m *Matcher) Allows(id int32) bool {
	if id < 0 || int(id) >= len(m.v.at) {
		return false
	}
	if m.v.end[id] {
		return m.m.states[m.at].final
	}
	return m.after(id) != 0
}

// after returns the state after one more token.
func (m *Matcher) after(id int32) int32 {
	place := m.v.at[id]
	if place < 0 {
		return 0
	}
	return m.read(m.at, m.v.tokens[place].bytes)
}

// read returns the state after the text that follows on one.
func (m *Matcher) read(at int32, text []byte) int32 {
	for _, c := range text {
		if at = m.m.next(at, c); at == 0 {
			break
		}
	}
	return at
}

// Keep copies to dst the logits of all tokens that may come next, and makes the
// others minus infinity. Both slices have the length of the vocabulary.
func (m *Matcher) Keep(dst, logits []float32) {
	mask := m.mask()
	for i := range dst {
		dst[i] = float32(math.Inf(-1))
		if mask[i>>6]>>(i&63)&1 == 1 {
			dst[i] = logits[i]
		}
	}
}

// mask returns which tokens may come next, a bit for each.
func (m *Matcher) mask() []uint64 {
	if mask, ok := m.masks[m.at]; ok {
		return mask
	}
	mask := make([]uint64, (len(m.v.at)+63)/64)
	set := func(id int32) { mask[id>>6] |= 1 << (id & 63) }
	if m.m.states[m.at].final {
		for _, id := range m.v.ends {
			set(id)
		}
	}
	m.on = append(m.on[:0], m.at)
	dead := math.MaxInt32 // bytes after which nothing may come
	for i := range m.v.tokens {
		t := &m.v.tokens[i]
		if int(t.same) >= dead { // it begins with what is in vain
			continue
		}
		dead = math.MaxInt32
		m.on = m.on[:t.same+1]
		at := m.on[t.same]
		for _, c := range t.bytes[t.same:] {
			if at = m.m.next(at, c); at == 0 {
				dead = len(m.on)
				break
			}
			m.on = append(m.on, at)
		}
		if at != 0 {
			set(t.id)
		}
	}
	if len(m.masks) == maxMasks {
		clear(m.masks)
	}
	m.masks[m.at] = mask
	return mask
}

// Accept takes a token as said. One that is not allowed leaves nothing that may
// come.
func (m *Matcher) Accept(id int32) {
	if id >= 0 && int(id) < len(m.v.at) && !m.v.end[id] {
		m.at = m.after(id)
	}
	if m.m.steps = maxSteps; len(m.m.states) > maxStates {
		m.at = m.m.renew(m.at)
		clear(m.masks)
	}
}

// Done reports whether the answer is whole and nothing can come any more.
func (m *Matcher) Done() bool {
	s := &m.m.states[m.at]
	return s.final && len(s.threads) == 0
}

// Err returns why nothing may come, if that is not the answer's fault.
func (m *Matcher) Err() error { return m.m.err }
