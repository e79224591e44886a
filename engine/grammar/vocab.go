package grammar

import (
	"bytes"
	"cmp"
	"slices"
)

// Vocabulary is a model's tokens, sorted by their bytes. It is read-only and
// safe for concurrent use.
type Vocabulary struct {
	tokens []token // sorted
	at     []int32 // by id: a place in tokens; -1 is none
	ends   []int32
	end    []bool // by id
}

type token struct {
	id    int32
	same  int32 // bytes at the beginning that the token before has, too
	bytes []byte
}

// NewVocabulary returns the vocabulary of size tokens. piece appends the bytes
// that a token stands for, none for one that may never be a part of a text; ends
// are the tokens that end an answer.
func NewVocabulary(size int, piece func(dst []byte, id int32) []byte, ends []int32) *Vocabulary {
	v := &Vocabulary{at: make([]int32, size), end: make([]bool, size)}
	for _, id := range ends {
		if id >= 0 && int(id) < size {
			v.ends = append(v.ends, id)
			v.end[id] = true
		}
	}
	var room []byte
	for id := range int32(size) {
		v.at[id] = -1
		if room = piece(room[:0], id); len(room) > 0 && !v.end[id] {
			v.tokens = append(v.tokens, token{id: id, bytes: bytes.Clone(room)})
		}
	}
	slices.SortFunc(v.tokens, func(a, b token) int { return cmp.Or(bytes.Compare(a.bytes, b.bytes), cmp.Compare(a.id, b.id)) })
	total := 0
	for i := range v.tokens {
		total += len(v.tokens[i].bytes)
	}
	all := make([]byte, 0, total) // side by side, as they are walked over
	for i := range v.tokens {
		t := &v.tokens[i]
		all = append(all, t.bytes...)
		t.bytes = all[len(all)-len(t.bytes):]
		v.at[t.id] = int32(i)
		if i > 0 {
			t.same = int32(common(v.tokens[i-1].bytes, t.bytes))
		}
	}
	return v
}

// common returns how many bytes a and b begin with together.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
