package stream

// matcher knows the texts at which an answer ends. It is made once for a
// request and shared by its choices.
type matcher struct {
	patterns []pattern
	first    [256]bool // the bytes with which a pattern begins
}

// pattern is one such text. A stop string ends the answer where it is found; an
// end text is only removed where the answer ends with it.
type pattern struct {
	text string
	fail []int // Knuth-Morris-Pratt: how much still matches after n matching bytes
	end  bool
}

func newMatcher(stops, ends []string) *matcher {
	m := &matcher{}
	for i, text := range append(append([]string(nil), stops...), ends...) {
		if text != "" {
			m.patterns = append(m.patterns, newPattern(text, i >= len(stops)))
			m.first[text[0]] = true
		}
	}
	return m
}

func newPattern(text string, end bool) pattern {
	p := pattern{text: text, end: end, fail: make([]int, len(text)+1)}
	for n, k := 1, 0; n < len(text); n++ {
		for k > 0 && text[k] != text[n] {
			k = p.fail[k]
		}
		if text[k] == text[n] {
			k++
		}
		p.fail[n+1] = k
	}
	return p
}

// step returns how many bytes of the pattern match after c, if n did before.
func (p *pattern) step(n int, c byte) int {
	for n > 0 && (n == len(p.text) || p.text[n] != c) {
		n = p.fail[n]
	}
	if p.text[n] == c {
		n++
	}
	return n
}

// hold keeps back the end of a text while it could be part of a pattern.
type hold struct {
	matched []int // per pattern: how many bytes of it the text ends with
	kept    []byte
	idle    bool // nothing matches
}

// push returns what of the text so far can be shown, and whether a stop string
// was found behind it: the one that completes first, and of those that complete
// together the one that began first. The result is text itself, or what was kept
// before, or appended to *arena.
func (h *hold) push(m *matcher, arena *[]byte, text []byte) (out []byte, stopped bool) {
	if len(m.patterns) == 0 || len(text) == 0 {
		return text, false
	}
	if h.matched == nil {
		h.matched, h.idle = make([]int, len(m.patterns)), true
	}
	for i, c := range text {
		if h.idle && !m.first[c] {
			continue
		}
		if stop := h.step(m, c); stop > 0 {
			return h.upTo(arena, text[:i+1], stop), true
		}
	}
	keep := 0
	for _, n := range h.matched {
		keep = max(keep, n)
	}
	return h.upTo(arena, text, keep), false
}

// step takes one byte and returns the length of the longest stop string that
// it completes, or 0.
func (h *hold) step(m *matcher, c byte) (stop int) {
	h.idle = true
	for k := range m.patterns {
		p := &m.patterns[k]
		n := p.step(h.matched[k], c)
		h.matched[k] = n
		h.idle = h.idle && n == 0
		if n == len(p.text) && !p.end {
			stop = max(stop, n)
		}
	}
	return stop
}

// upTo returns the kept text and text without the last n bytes of both, which
// are kept.
func (h *hold) upTo(arena *[]byte, text []byte, n int) []byte {
	if len(h.kept) == 0 {
		h.kept = append(h.kept, text[len(text)-n:]...)
		return text[:len(text)-n]
	}
	if n == len(h.kept)+len(text) {
		h.kept = append(h.kept, text...)
		return nil
	}
	all := join(arena, h.kept, text)
	h.kept = append(h.kept[:0], all[len(all)-n:]...)
	return all[:len(all)-n]
}

// flush returns what is kept, without an end text that the answer ends with.
func (h *hold) flush(m *matcher, ended bool) []byte {
	cut := 0
	for k, n := range h.matched {
		if p := &m.patterns[k]; ended && p.end && n == len(p.text) {
			cut = max(cut, n)
		}
		h.matched[k] = 0
	}
	out := h.kept[:len(h.kept)-cut]
	h.kept, h.idle = h.kept[:0], true
	return out
}
