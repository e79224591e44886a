package jsonscan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// The two ways in which a text fails; tested with errors.Is.
var (
	ErrSyntax = errors.New("invalid JSON")
	ErrDepth  = errors.New("JSON is nested too deeply")
)

// Valid reports as an error why data is not exactly one JSON value, with white
// space around it allowed. Arrays and objects may be nested maxDepth deep. The
// error wraps ErrSyntax or ErrDepth and names the offset.
func Valid(data []byte, maxDepth int) error {
	i, err := scanValue(data, 0, maxDepth)
	if err != nil {
		return err
	}
	return atEnd(data, i)
}

func atEnd(data []byte, i int) error {
	if i = skipSpace(data, i); i < len(data) {
		return unexpected(data, i, "after the value")
	}
	return nil
}

// expect says what the scanner is waiting for.
type expect uint8

const (
	aValue      expect = iota
	aFirstValue        // or the end of the array
	aName
	aFirstName // or the end of the object
	theRest    // a comma or the end of the array or object
)

// scanValue checks the value that begins at or after i and returns the offset
// behind it.
func scanValue(data []byte, i, maxDepth int) (int, error) {
	var (
		want    = aValue
		open    = make([]byte, 0, 128) // the closing bracket of each level
		err     error
		closing byte
	)
	for {
		if i = skipSpace(data, i); i == len(data) {
			return i, unexpected(data, i, "")
		}
		c := data[i]
		switch {
		case want == aFirstValue && c == ']', want == aFirstName && c == '}', want == theRest && c == closing:
			open = open[:len(open)-1]
			i++
			want = theRest
		case want == theRest:
			if c != ',' {
				return i, unexpected(data, i, "after a value")
			}
			i++
			want = aValue
			if closing == '}' {
				want = aName
			}
			continue
		case want == aName || want == aFirstName:
			if _, i, err = scanName(data, i); err != nil {
				return i, err
			}
			want = aValue
			continue
		case c == '{' || c == '[':
			if len(open) >= maxDepth {
				return i, fmt.Errorf("%w at offset %d: more than %d levels", ErrDepth, i, maxDepth)
			}
			want, closing = aFirstName, '}'
			if c == '[' {
				want, closing = aFirstValue, ']'
			}
			open = append(open, closing)
			i++
			continue
		default:
			if i, err = scanScalar(data, i); err != nil {
				return i, err
			}
			want = theRest
		}
		if len(open) == 0 {
			return i, nil
		}
		closing = open[len(open)-1]
	}
}

// scanName checks a member's name and the colon after it. It returns where the
// name ends, quotes included, and where the colon does.
func scanName(data []byte, i int) (nameEnd, next int, err error) {
	if data[i] != '"' {
		return i, i, unexpected(data, i, "where a member's name should begin")
	}
	if nameEnd, err = scanString(data, i+1); err != nil {
		return nameEnd, nameEnd, err
	}
	next = skipSpace(data, nameEnd)
	if next == len(data) || data[next] != ':' {
		return nameEnd, next, unexpected(data, next, "after a member's name")
	}
	return nameEnd, next + 1, nil
}

func scanScalar(data []byte, i int) (int, error) {
	switch c := data[i]; c {
	case '"':
		return scanString(data, i+1)
	case 't':
		return scanWord(data, i, "true")
	case 'f':
		return scanWord(data, i, "false")
	case 'n':
		return scanWord(data, i, "null")
	default:
		if c == '-' || isDigit(c) {
			return scanNumber(data, i)
		}
		return i, unexpected(data, i, "where a value should begin")
	}
}

func scanWord(data []byte, i int, word string) (int, error) {
	for j := range len(word) {
		if i+j == len(data) || data[i+j] != word[j] {
			return i + j, unexpected(data, i+j, "in "+word)
		}
	}
	return i + len(word), nil
}

// scanString checks the string whose opening quote is before i and returns the
// offset behind its closing quote.
func scanString(data []byte, i int) (int, error) {
	for {
		i = plainRun(data, i)
		if i == len(data) {
			return i, unexpected(data, i, "in a string")
		}
		switch c := data[i]; {
		case c == '"':
			return i + 1, nil
		case c != '\\':
			return i, unexpected(data, i, "in a string")
		}
		n := escapeLen(data[i:])
		if n == 0 {
			return i, fmt.Errorf("%w at offset %d: bad escape in a string", ErrSyntax, i)
		}
		i += n
	}
}

// escapeLen returns how long the escape at the start of data is, 0 if it is none.
func escapeLen(data []byte) int {
	if len(data) < 2 {
		return 0
	}
	switch data[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(data[2:]); ok {
			return 6
		}
	}
	return 0
}

// plainRun returns the offset of the first quote, backslash or control
// character from i on. It tests eight bytes at once: the usual string is long.
func plainRun(data []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(data); i += 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		quote, slash := w^(ones*'"'), w^(ones*'\\')
		found := ((w - ones*0x20) | (quote - ones) | (slash - ones)) & ^w & highs
		if found != 0 {
			// Borrows can mark bytes above a true find, never below it.
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

func scanNumber(data []byte, i int) (int, error) {
	if data[i] == '-' {
		i++
	}
	start := i
	if i = skipDigits(data, i); i == start {
		return i, unexpected(data, i, "in a number")
	}
	if data[start] == '0' && i > start+1 {
		return start, fmt.Errorf("%w at offset %d: a number begins with 0", ErrSyntax, start)
	}
	if i < len(data) && data[i] == '.' {
		i++
		start = i
		if i = skipDigits(data, i); i == start {
			return i, unexpected(data, i, "in a number")
		}
	}
	if i < len(data) && (data[i] == 'e' || data[i] == 'E') {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(data, i); i == start {
			return i, unexpected(data, i, "in a number")
		}
	}
	return i, nil
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func skipSpace(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

func unexpected(data []byte, i int, where string) error {
	if where != "" {
		where = " " + where
	}
	if i >= len(data) {
		return fmt.Errorf("%w at offset %d: it ends%s", ErrSyntax, len(data), where)
	}
	if data[i] >= 0x80 {
		return fmt.Errorf("%w at offset %d: unexpected byte 0x%x%s", ErrSyntax, i, data[i], where)
	}
	return fmt.Errorf("%w at offset %d: unexpected %q%s", ErrSyntax, i, rune(data[i]), where)
}
