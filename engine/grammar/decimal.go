package grammar

import (
	"strconv"
	"strings"
)

// decimal is a number, exactly, by its digits: no leading zeros in whole (zero
// is ""), no trailing ones in fraction.
type decimal struct {
	negative        bool
	whole, fraction string
}

// maxDigits bounds the digits of numbers in schemas, and their exponents.
const maxDigits = 40

// decimalOf reads a JSON number; it is false for other values, and for numbers
// with too many digits.
func decimalOf(v *value) (decimal, bool) {
	if v.kind != '0' {
		return decimal{}, false
	}
	return parseDecimal(v.text)
}

func parseDecimal(text string) (d decimal, ok bool) {
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		var err error
		if exponent, err = strconv.Atoi(text[at+1:]); err != nil || exponent > maxDigits || exponent < -maxDigits {
			return d, false
		}
		mantissa = text[:at]
	}
	mantissa, d.negative = strings.CutPrefix(mantissa, "-")
	d.whole, d.fraction, _ = strings.Cut(mantissa, ".")
	if exponent > 0 {
		d.fraction += strings.Repeat("0", max(exponent-len(d.fraction), 0))
		d.whole, d.fraction = d.whole+d.fraction[:exponent], d.fraction[exponent:]
	} else {
		d.whole = strings.Repeat("0", max(-exponent-len(d.whole), 0)) + d.whole
		at := len(d.whole) + exponent
		d.whole, d.fraction = d.whole[:at], d.whole[at:]+d.fraction
	}
	d.whole, d.fraction = strings.TrimLeft(d.whole, "0"), strings.TrimRight(d.fraction, "0")
	return d, len(d.whole) <= maxDigits && len(d.fraction) <= maxDigits
}

// isInteger reports whether a number has no fraction.
func isInteger(text string) bool {
	d, ok := parseDecimal(text)
	return ok && d.fraction == ""
}

func (d decimal) isZero() bool { return d.whole == "" && d.fraction == "" }

// int is the whole part of a number of few digits.
func (d decimal) int() int {
	n, _ := strconv.Atoi(d.whole) // "" is 0
	return n
}

// magnitude is d without its sign.
func (d decimal) magnitude() decimal {
	d.negative = false
	return d
}

// compare orders numbers.
func (d decimal) compare(e decimal) int {
	switch {
	case d.isZero() && e.isZero():
		return 0
	case d.negative != e.negative:
		if d.negative {
			return -1
		}
		return 1
	}
	c := len(d.whole) - len(e.whole)
	if c == 0 {
		c = strings.Compare(d.whole, e.whole)
	}
	if c == 0 {
		c = strings.Compare(d.fraction, e.fraction)
	}
	if d.negative {
		c = -c
	}
	return c
}
