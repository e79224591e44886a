package prompt

import (
	"strconv"
	"strings"
	"time"
)

// strftime formats t as Python's datetime.now().strftime does with glibc in
// the C locale, its flags (%-d, %_d, %05d, %^a) included. An unknown directive
// is kept as it is. Like Python's naive time, t has no zone: %z and %Z are empty.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		start, spec := i, directive{}
		i = spec.parse(format, i+1)
		if i == len(format) || !spec.write(&b, t, format[i]) {
			b.WriteString(format[start:min(i+1, len(format))])
		}
	}
	return b.String()
}

type directive struct {
	pad   byte // '-' none, '_' spaces, '0' zeros, 0 as the letter wants
	upper bool
	width int
}

// parse reads the flags, the width and the E and O modifiers at i and returns
// the offset of the letter.
func (d *directive) parse(format string, i int) int {
	for ; i < len(format); i++ {
		switch c := format[i]; {
		case c == '-' || c == '_' || c == '0' && d.width == 0:
			d.pad = c
		case c == '^':
			d.upper = true
		case c >= '0' && c <= '9' && d.width < 100:
			d.width = d.width*10 + int(c-'0')
		case c == 'E' || c == 'O':
		default:
			return i
		}
	}
	return i
}

func (d *directive) write(b *strings.Builder, t time.Time, letter byte) bool {
	if text, ok := textField(t, letter); ok {
		if d.upper {
			text = strings.ToUpper(text)
		}
		b.WriteString(d.fill(text, ' ', 0))
		return true
	}
	if n, width, pad, ok := numberField(t, letter); ok {
		b.WriteString(d.fill(strconv.FormatInt(n, 10), pad, width))
		return true
	}
	return false
}

// fill widens s to what the flags ask for, or else to width.
func (d *directive) fill(s string, pad byte, width int) string {
	switch d.pad {
	case '-':
		width = 0
	case '_':
		pad = ' '
	case '0':
		pad = '0'
	}
	return strings.Repeat(string(pad), max(0, max(d.width, width)-len(s))) + s
}

func textField(t time.Time, letter byte) (string, bool) {
	layouts := map[byte]string{
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'h': "Jan", 'B': "January", 'p': "PM", 'P': "pm",
		'c': "Mon Jan _2 15:04:05 2006", 'D': "01/02/06", 'x': "01/02/06", 'F': "2006-01-02",
		'R': "15:04", 'r': "03:04:05 PM", 'T': "15:04:05", 'X': "15:04:05",
	}
	if layout, ok := layouts[letter]; ok {
		return t.Format(layout), true
	}
	literals := map[byte]string{'%': "%", 'n': "\n", 't': "\t", 'z': "", 'Z': ""}
	text, ok := literals[letter]
	return text, ok
}

func numberField(t time.Time, letter byte) (n int64, width int, pad byte, ok bool) {
	isoYear, isoWeek := t.ISOWeek()
	days, weekday := t.YearDay()-1, int(t.Weekday())
	hour12 := (t.Hour()+11)%12 + 1
	f := func(n, width int, pad byte) (int64, int, byte, bool) { return int64(n), width, pad, true }
	switch letter {
	case 'd':
		return f(t.Day(), 2, '0')
	case 'e':
		return f(t.Day(), 2, ' ')
	case 'm':
		return f(int(t.Month()), 2, '0')
	case 'y':
		return f(t.Year()%100, 2, '0')
	case 'Y':
		return f(t.Year(), 0, '0')
	case 'C':
		return f(t.Year()/100, 2, '0')
	case 'G':
		return f(isoYear, 0, '0')
	case 'g':
		return f(isoYear%100, 2, '0')
	case 'V':
		return f(isoWeek, 2, '0')
	case 'U':
		return f((days+7-weekday)/7, 2, '0')
	case 'W':
		return f((days+7-(weekday+6)%7)/7, 2, '0')
	case 'j':
		return f(days+1, 3, '0')
	case 'u':
		return f((weekday+6)%7+1, 0, '0')
	case 'w':
		return f(weekday, 0, '0')
	case 'H':
		return f(t.Hour(), 2, '0')
	case 'k':
		return f(t.Hour(), 2, ' ')
	case 'I':
		return f(hour12, 2, '0')
	case 'l':
		return f(hour12, 2, ' ')
	case 'M':
		return f(t.Minute(), 2, '0')
	case 'S':
		return f(t.Second(), 2, '0')
	case 'f':
		return f(t.Nanosecond()/1000, 6, '0')
	case 's':
		return t.Unix(), 0, '0', true
	}
	return 0, 0, 0, false
}
