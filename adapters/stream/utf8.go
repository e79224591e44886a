package stream

import "unicode/utf8"

// runes makes a text that comes in pieces valid UTF-8: a rune that is cut
// waits for its rest, and each byte that can never be part of one becomes
// U+FFFD, however the bytes arrived.
type runes struct {
	tail [utf8.UTFMax - 1]byte // the start of a rune
	n    int
}

// push returns what is whole of the text so far. The result is text itself
// where that is possible, else it is appended to *arena.
func (r *runes) push(arena *[]byte, text []byte) []byte {
	if r.n == 0 {
		if utf8.Valid(text) {
			return text
		}
		if whole := text[:len(text)-cutRune(text)]; utf8.Valid(whole) {
			r.n = copy(r.tail[:], text[len(whole):])
			return whole
		}
	}
	start := len(*arena)
	*arena = append(append(*arena, r.tail[:r.n]...), text...)
	joined := (*arena)[start:]
	cut := cutRune(joined)
	r.n = copy(r.tail[:], joined[len(joined)-cut:])
	joined = joined[:len(joined)-cut]
	if utf8.Valid(joined) {
		return joined
	}
	return replaceInvalid(arena, joined)
}

// flush returns what stands for a rune whose rest never came.
func (r *runes) flush(arena *[]byte) []byte {
	out := replaceInvalid(arena, r.tail[:r.n])
	r.n = 0
	return out
}

// cutRune returns how many bytes at the end of b begin a rune and lack its rest.
func cutRune(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// replaceInvalid appends b to the arena with U+FFFD for each invalid byte.
func replaceInvalid(arena *[]byte, b []byte) []byte {
	start := len(*arena)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		*arena = utf8.AppendRune(*arena, r)
		b = b[n:]
	}
	return (*arena)[start:]
}

// join appends the parts to the arena and returns them as one slice. A part
// that makes up the whole is returned as it is.
func join(arena *[]byte, a, b []byte) []byte {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	start := len(*arena)
	*arena = append(append(*arena, a...), b...)
	return (*arena)[start:]
}
