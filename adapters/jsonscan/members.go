package jsonscan

import (
	"bytes"
	"fmt"
	"iter"

	"dragoman/adapters/llm"
)

// maxMembers bounds the objects whose members are listed: far more than any
// protocol has, and few enough to look a name up one by one.
const maxMembers = 10_000

// ErrMembers says that an object has too many members to be a message of any
// protocol.
var ErrMembers = fmt.Errorf("JSON object has more than %d members", maxMembers)

// DuplicateError says that an object has two members with one name. RFC 8259
// lets each parser choose which of them counts, so what is checked here might
// not be what is used elsewhere.
type DuplicateError struct {
	Name string // unescaped
}

// Error names the member; the name comes from the sender and is quoted.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("duplicate member %.66q", e.Name)
}

// Members checks data as Valid does and returns the members of the object that
// it must be, in order, with names unescaped. Two members of one name are a
// *DuplicateError, more than 10,000 are ErrMembers. Inner objects are checked
// for validity and depth only.
func Members(data []byte, maxDepth int) ([]llm.Member, error) {
	i := skipSpace(data, 0)
	if i == len(data) || data[i] != '{' {
		if err := Valid(data, maxDepth); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w at offset %d: not an object", ErrSyntax, i)
	}
	if maxDepth < 1 {
		return nil, fmt.Errorf("%w at offset %d: more than %d levels", ErrDepth, i, maxDepth)
	}
	members := make([]llm.Member, 0, 16)
	var seen nameSet
	for first := true; ; first = false {
		i = skipSpace(data, i+1) // past the brace or comma
		if first && i < len(data) && data[i] == '}' {
			break
		}
		if i == len(data) {
			return nil, unexpected(data, i, "in an object")
		}
		nameEnd, next, err := scanName(data, i)
		if err != nil {
			return nil, err
		}
		name := plainName(data[i:nameEnd])
		start := skipSpace(data, next)
		if i, err = scanValue(data, start, maxDepth-1); err != nil {
			return nil, err
		}
		if err := seen.add(name); err != nil {
			return nil, err
		}
		members = append(members, llm.Member{Name: string(name), Start: start, End: i})
		if i = skipSpace(data, i); i == len(data) || data[i] != ',' && data[i] != '}' {
			return nil, unexpected(data, i, "after a member")
		}
		if data[i] == '}' {
			break
		}
	}
	return members, atEnd(data, i+1)
}

// Each calls f with the members of object as All yields them, until f returns an
// error, which it returns. A name that comes again is a *DuplicateError, more
// than 10,000 are ErrMembers.
func Each(object []byte, f func(name, value []byte) error) error {
	var seen nameSet
	for name, value := range All(object) {
		if err := seen.add(name); err != nil {
			return err
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	return nil
}

// Elements yields the elements of array, which must come out of data that
// Valid or Members accepted, as for All; anything but an array yields nothing.
func Elements(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := skipSpace(array, 0)
		if i == len(array) || array[i] != '[' {
			return
		}
		i = skipSpace(array, i+1)
		for i < len(array) && array[i] != ']' {
			end := skipValue(array, i)
			if !yield(array[i:end]) {
				return
			}
			i = skipSpace(array, skipSpace(array, end)+1)
		}
	}
}

// nameSet remembers the names of one object. The usual object has few, which
// are compared one by one; a map bounds the cost of a hostile one.
type nameSet struct {
	few  [16][]byte
	n    int
	many map[string]struct{}
}

// add returns an error if name was there before, or is one too many.
func (s *nameSet) add(name []byte) error {
	if s.many == nil {
		for _, old := range s.few[:s.n] {
			if bytes.Equal(old, name) {
				return &DuplicateError{Name: string(name)}
			}
		}
		if s.n < len(s.few) {
			s.few[s.n] = name
			s.n++
			return nil
		}
		s.many = make(map[string]struct{}, 2*s.n)
		for _, old := range s.few {
			s.many[string(old)] = struct{}{}
		}
	}
	if _, old := s.many[string(name)]; old {
		return &DuplicateError{Name: string(name)}
	}
	if len(s.many) == maxMembers {
		return ErrMembers
	}
	s.many[string(name)] = struct{}{}
	return nil
}

// plainName unescapes a quoted name; it copies only if it must.
func plainName(quoted []byte) []byte {
	inner := quoted[1:max(1, len(quoted)-1)]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	return unescape(make([]byte, 0, len(inner)), inner)
}

// skipValue returns the offset behind the valid value that begins at i. It
// stays within data whatever that holds.
func skipValue(data []byte, i int) int {
	depth := 0
	for i < len(data) {
		switch data[i] {
		case '"':
			i = skipString(data, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue
		default:
			for i++; i < len(data) && !isDelimiter(data[i]); i++ {
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return i
}

func isDelimiter(c byte) bool {
	switch c {
	case ',', ':', ' ', '\t', '\n', '\r', '}', ']', '"', '{', '[':
		return true
	}
	return false
}

// skipString returns the offset behind the valid string whose quote is at i.
func skipString(data []byte, i int) int {
	for i++; ; i += 2 { // past the quote, past an escape
		if i = plainRun(data, i); i >= len(data) {
			return len(data)
		}
		if data[i] == '"' {
			return i + 1
		}
	}
}
