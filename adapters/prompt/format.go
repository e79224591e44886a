package prompt

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ardanlabs/jinja"
)

// The library knows no filter format and takes no new filters, but a call can
// do what it does: 'text' | format(x) is written as NAME('text')(x). Templates
// use it with a text of their own, and only that is rewritten.

// rewriteFormat replaces the filter format after string literals by calls of
// name. Everything else, newlines too, stays as it is.
func rewriteFormat(inner, name string) string {
	var out strings.Builder
	last := 0
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\'' && inner[i] != '"' {
			continue
		}
		start := i
		i = stringEnd(inner, i)
		rest := inner[min(i+1, len(inner)):]
		gap := rest
		if rest = strings.TrimLeftFunc(rest, isSpace); !strings.HasPrefix(rest, "|") {
			continue
		}
		rest = strings.TrimLeftFunc(rest[1:], isSpace)
		if word, call := firstWord(rest); word != "format" || !strings.HasPrefix(call, "(") {
			continue
		}
		end := len(inner) - len(rest) + len("format")
		gap = gap[:len(gap)-len(rest)]
		out.WriteString(inner[last:start] + name + "(" + inner[start:i+1] + strings.Replace(gap, "|", " ", 1) + ")")
		last, i = end, end-1
	}
	return out.String() + inner[last:]
}

// formatter is the function that takes the text and returns one that takes
// what is to be put into it.
var formatter = jinja.NewCallable("format", func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsString() {
		return jinja.Undefined(), errors.New("format takes a string")
	}
	text := args[0].AsString()
	return jinja.NewCallable("format", func(args []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
		s, err := percent(text, args, named)
		return jinja.NewString(s), err
	}), nil
})

// percent is Python's text % args.
func percent(text string, args []jinja.Value, named map[string]jinja.Value) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		out.WriteString(before)
		if !found {
			break
		}
		name := ""
		if inner, ok := strings.CutPrefix(after, "("); ok {
			name, after, _ = strings.Cut(inner, ")")
		}
		end := strings.IndexFunc(after, func(r rune) bool { return !strings.ContainsRune("#0- +.123456789", r) })
		if end < 0 {
			return "", errors.New("format: incomplete directive")
		}
		flags, letter := after[:end], after[end]
		text = after[end+1:]
		if letter == '%' {
			out.WriteByte('%')
			continue
		}
		value, ok := named[name]
		if name == "" {
			if ok = len(args) > 0; ok {
				value, args = args[0], args[1:]
			}
		}
		if !ok {
			return "", errors.New("format: not enough arguments")
		}
		s, err := directiveOf(flags, letter, value)
		if err != nil {
			return "", err
		}
		out.WriteString(s)
	}
	if len(args) > 0 {
		return "", errors.New("format: too many arguments")
	}
	return out.String(), nil
}

const maxDigits = 2 // of a width, and of a precision

func directiveOf(flags string, letter byte, v jinja.Value) (string, error) {
	digits := strings.TrimLeft(flags, "#0- +")
	if width, precision, _ := strings.Cut(digits, "."); max(len(width), len(precision)) > maxDigits {
		return "", errors.New("format: too wide")
	}
	if b := v.IsBool(); b && v.AsBool() && letter != 's' {
		v = jinja.NewInt(1)
	} else if b && letter != 's' {
		v = jinja.NewInt(0)
	}
	switch {
	case letter == 's' && !v.IsString():
		return fmt.Sprintf("%"+textFlags(flags, digits)+"s", v.String()), nil
	case letter == 's', letter == 'c' && v.IsString():
		return fmt.Sprintf("%"+textFlags(flags, digits)+"s", v.AsString()), nil
	case letter == 'c' && v.IsInt() && v.AsInt() >= 0 && v.AsInt() <= 0x10ffff:
		return fmt.Sprintf("%"+textFlags(flags, digits)+"s", string(rune(v.AsInt()))), nil
	case strings.IndexByte("diu", letter) >= 0 && v.IsInt():
		return fmt.Sprintf("%"+flags+"d", v.AsInt()), nil
	case strings.IndexByte("diu", letter) >= 0 && v.IsFloat():
		return fmt.Sprintf("%"+flags+"d", int64(v.AsFloat())), nil
	case strings.IndexByte("xXo", letter) >= 0 && v.IsInt():
		return fmt.Sprintf("%"+flags+string(letter), v.AsInt()), nil
	case strings.IndexByte("fFeE", letter) >= 0 && v.IsInt():
		return fmt.Sprintf("%"+flags+string(letter), float64(v.AsInt())), nil
	case strings.IndexByte("fFeE", letter) >= 0 && v.IsFloat():
		return fmt.Sprintf("%"+flags+string(letter), v.AsFloat()), nil
	}
	return "", fmt.Errorf("format: %%%c does not take %.40q", letter, v.String())
}

// textFlags are those that mean something for text.
func textFlags(flags, digits string) string {
	if strings.Contains(flags, "-") {
		return "-" + digits
	}
	return digits
}
