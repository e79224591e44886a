package grammar

import "strings"

// Bounds of the numbers that are written where a schema gives bounds of its own.
const (
	mostDigits   = 16 // of the whole part
	mostFraction = 16 // behind the digits of the bounds
)

// bound is one end of a range; the number itself is in it if open is not set.
type bound struct {
	at   decimal
	open bool
}

// bounds reads the range of a schema of numbers. Where there is no bound it is
// as far as numbers are written. given says whether there is any.
func (s *schema) bounds(path string, v *value) (low, high bound, given bool, err error) {
	if v.has("multipleOf") {
		if one, ok := decimalOf(v.get("multipleOf")); !ok || one != (decimal{whole: "1"}) || !onlyIntegers(v) {
			return low, high, false, bad(join(path, "multipleOf"), "it cannot be enforced")
		}
	}
	most := decimal{whole: strings.Repeat("9", mostDigits)}
	high.at = most
	low.at = decimal{negative: true, whole: most.whole}
	set := func(b *bound, name string, open bool, tighter int) {
		one := v.get(name)
		if one == nil || err != nil {
			return
		}
		if open && (one.is("true") || one.is("false")) { // the older form: about minimum or maximum
			b.open = b.open || one.is("true")
			return
		}
		d, ok := decimalOf(one)
		if !ok {
			err = bad(join(path, name), "it is a number of at most %d digits", maxDigits)
			return
		}
		given = true
		if c := d.compare(b.at) * tighter; c > 0 || c == 0 && open {
			*b = bound{d, open}
		}
	}
	set(&low, "minimum", false, 1)
	set(&high, "maximum", false, -1)
	set(&low, "exclusiveMinimum", true, 1)
	set(&high, "exclusiveMaximum", true, -1)
	return low, high, given, err
}

// onlyIntegers reports whether the schema's numbers are integers.
func onlyIntegers(v *value) bool {
	k, _ := typesOf(v.get("type"))
	return k&jsonNumber == jsonInteger
}

func noNumber(path string) error { return bad(path, "no number is within its bounds") }

// integer is what fits a schema of integers.
func (s *schema) integer(path string, v *value) (*expr, error) {
	low, high, given, err := s.bounds(path, v)
	if err != nil {
		return nil, err
	}
	if !given {
		return s.rule("integer"), nil
	}
	if e := signed(low, high, func(low, high bound) *expr {
		from, to := low.at, high.at
		if from.fraction != "" || low.open {
			from = decimal{whole: increment(from.whole)}
		}
		if to.fraction == "" && high.open {
			if to.whole == "" {
				return nil
			}
			to = decimal{whole: decrement(to.whole)}
		}
		return wholes(from.whole, to.whole)
	}); e != nil {
		return e, nil
	}
	return nil, noNumber(path)
}

// number is what fits a schema of numbers.
func (s *schema) number(path string, v *value) (*expr, error) {
	low, high, given, err := s.bounds(path, v)
	if err != nil {
		return nil, err
	}
	if !given {
		return s.rule("number"), nil
	}
	if e := signed(low, high, decimals); e != nil {
		return e, nil
	}
	return nil, noNumber(path)
}

// signed is the numbers from low to high, made of a function for those that are
// not negative; nil is none. Zero gets no sign.
func signed(low, high bound, plain func(low, high bound) *expr) *expr {
	zero := bound{}
	var list []*expr
	if low.at.compare(decimal{}) < 0 {
		least := bound{open: true} // of the magnitudes
		if high.at.compare(decimal{}) < 0 {
			least = bound{high.at.magnitude(), high.open}
		}
		most := bound{low.at.magnitude(), low.open}
		if e := ranged(least, most, plain); e != nil {
			list = append(list, seq(lit("-"), e))
		}
		low = zero
	}
	if high.at.compare(decimal{}) >= 0 {
		if e := ranged(low, high, plain); e != nil {
			list = append(list, e)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return alt(list...)
}

func ranged(low, high bound, plain func(low, high bound) *expr) *expr {
	if c := low.at.compare(high.at); c > 0 || c == 0 && (low.open || high.open) {
		return nil
	}
	return plain(low, high)
}

// decimals is the numbers from low to high, which are not negative, without
// exponents.
func decimals(low, high bound) *expr {
	f := fractions{low, high, max(len(low.at.fraction), len(high.at.fraction)) + mostFraction}
	if low.at.whole == high.at.whole {
		return numbers(low.at.whole, low.at.whole, f.after(true, true))
	}
	list := []*expr{
		numbers(low.at.whole, low.at.whole, f.after(true, false)),
		numbers(high.at.whole, high.at.whole, f.after(false, true)),
	}
	if from, to := increment(low.at.whole), decrement(high.at.whole); len(from) < len(to) || len(from) == len(to) && from <= to {
		list = append(list, numbers(from, to, f.after(false, false)))
	}
	return anyOf(list)
}

// numbers is the whole numbers from low to high with a fraction; nil is none.
func numbers(low, high string, fraction *expr) *expr {
	if fraction == nil {
		return nil
	}
	return seq(wholes(low, high), fraction)
}

// anyOf is one of list; what is nil in it is none.
func anyOf(list []*expr) *expr {
	kept := list[:0]
	for _, e := range list {
		if e != nil {
			kept = append(kept, e)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return alt(kept...)
}

// fractions are the digits behind the point of numbers whose whole part is that
// of the one bound, or the other, or both.
type fractions struct {
	low, high bound
	most      int // digits
}

// after is what may follow the whole part: nothing, or a point and digits.
func (f *fractions) after(atLow, atHigh bool) *expr {
	ends := f.ends(0, atLow, atHigh)
	more := f.digits(0, atLow, atHigh)
	switch {
	case more == nil && !ends:
		return nil
	case more == nil:
		return empty
	}
	more = seq(lit("."), more)
	if ends {
		more = opt(more)
	}
	return more
}

// ends reports whether the number may end after i digits, all of them those of
// a bound.
func (f *fractions) ends(i int, atLow, atHigh bool) bool {
	return !(atLow && (i < len(f.low.at.fraction) || f.low.open)) && !(atHigh && i >= len(f.high.at.fraction) && f.high.open)
}

// digits is what may follow i digits, at least one more; nil is nothing.
func (f *fractions) digits(i int, atLow, atHigh bool) *expr {
	if atLow && !f.low.open && i >= len(f.low.at.fraction) {
		atLow = false // nothing is too small any more
	}
	if !atLow && !atHigh {
		return rep(between('0', '9'), 1, mostFraction)
	}
	if i == f.most {
		return nil
	}
	low, high := byte('0'), byte('9')
	if atLow && i < len(f.low.at.fraction) {
		low = f.low.at.fraction[i]
	}
	if atHigh {
		high = '0'
		if i < len(f.high.at.fraction) {
			high = f.high.at.fraction[i]
		}
	}
	if low > high {
		return nil
	}
	var list []*expr
	one := func(from, to byte, atLow, atHigh bool) {
		ends, more := f.ends(i+1, atLow, atHigh), f.digits(i+1, atLow, atHigh)
		switch {
		case more == nil && !ends:
			return
		case more == nil:
			more = empty
		case ends:
			more = opt(more)
		}
		list = append(list, seq(between(from, to), more))
	}
	switch {
	case low == high:
		one(low, low, atLow, atHigh)
	default:
		if atLow {
			one(low, low, true, false)
			low++
		}
		if atHigh {
			one(high, high, false, true)
			high--
		}
		if low <= high {
			one(low, high, false, false)
		}
	}
	return anyOf(list)
}
