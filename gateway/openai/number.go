package openai

import (
	"bytes"
	"errors"
	"strconv"
)

var (
	errNotInteger = errors.New("not an integer")
	errRange      = errors.New("beyond 64 bits")
)

func isNumber(value []byte) bool {
	return value[0] == '-' || '0' <= value[0] && value[0] <= '9'
}

// parseInteger reads a JSON number that is integral, however it is spelled
// (256, 256.0, 2.56e2), exactly: through a float64, numbers above 2^53 would
// become others.
func parseInteger(value []byte) (int64, error) {
	if !isNumber(value) {
		return 0, errNotInteger
	}
	if bytes.ContainsAny(value, ".eE") {
		var err error
		if value, err = plainInteger(value); err != nil {
			return 0, err
		}
	}
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil {
		return 0, errRange
	}
	return n, nil
}

// plainInteger spells a number that has a fraction or an exponent with digits
// alone.
func plainInteger(value []byte) ([]byte, error) {
	const (
		most = 19      // digits of an int64
		far  = 1 << 30 // an exponent beyond what any body's digits can undo
	)
	mantissa, exponent := value, 0
	if e := bytes.IndexAny(value, "eE"); e >= 0 {
		mantissa = value[:e]
		exponent, _ = strconv.Atoi(string(value[e+1:])) // out of range: the nearest int
		exponent = max(-far, min(exponent, far))
	}
	mantissa, negative := bytes.CutPrefix(mantissa, []byte("-"))
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	point := len(whole) + exponent // where it stands among the digits
	all := append(bytes.Clone(whole), fraction...)
	digits := bytes.TrimLeft(all, "0")
	point -= len(all) - len(digits)
	digits = bytes.TrimRight(digits, "0")
	switch {
	case len(digits) == 0:
		return []byte("0"), nil
	case point < len(digits):
		return nil, errNotInteger
	case point > most:
		return nil, errRange
	}
	digits = append(digits, bytes.Repeat([]byte("0"), point-len(digits))...)
	if negative {
		digits = append([]byte("-"), digits...)
	}
	return digits, nil
}
