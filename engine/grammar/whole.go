package grammar

import "strings"

// wholes is the whole numbers from low to high, in digits; "" is zero. nil is
// none.
func wholes(low, high string) *expr {
	if len(low) > len(high) || len(low) == len(high) && low > high {
		return nil
	}
	var list []*expr
	if low == "" {
		list = append(list, lit("0"))
		low = "1"
	}
	for n := len(low); n <= len(high); n++ {
		from, to := "1"+strings.Repeat("0", n-1), strings.Repeat("9", n)
		if n == len(low) {
			from = low
		}
		if n == len(high) {
			to = high
		}
		if from <= to {
			list = append(list, sameLength(from, to))
		}
	}
	return anyOf(list)
}

// sameLength is the numbers from low to high, which have as many digits.
func sameLength(low, high string) *expr {
	switch {
	case low == "":
		return empty
	case low[0] == high[0]:
		return seq(lit(low[:1]), sameLength(low[1:], high[1:]))
	}
	rest := len(low) - 1
	from, to := low[0], high[0]
	var list []*expr
	if strings.Trim(low[1:], "0") != "" {
		list = append(list, seq(lit(low[:1]), sameLength(low[1:], strings.Repeat("9", rest))))
		from++
	}
	if strings.Trim(high[1:], "9") != "" {
		list = append(list, seq(lit(high[:1]), sameLength(strings.Repeat("0", rest), high[1:])))
		to--
	}
	if from <= to {
		list = append(list, seq(between(from, to), rep(between('0', '9'), rest, rest)))
	}
	return alt(list...)
}

// increment is a whole number plus one.
func increment(n string) string {
	head := strings.TrimRight(n, "9")
	nines := len(n) - len(head)
	last := byte('0')
	if head != "" {
		last = head[len(head)-1]
		head = head[:len(head)-1]
	}
	return head + string(last+1) + strings.Repeat("0", nines)
}

// decrement is a whole number, which is not zero, minus one.
func decrement(n string) string {
	head := strings.TrimRight(n, "0")
	zeros := len(n) - len(head)
	return strings.TrimLeft(head[:len(head)-1]+string(head[len(head)-1]-1)+strings.Repeat("9", zeros), "0")
}
