package declared

import (
	"errors"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"
)

// whole is the path of the frame itself.
const whole = "."

// splitPath cuts a path at its dots. The whole frame is no steps at all.
func splitPath(path string) ([]string, error) {
	if path == whole {
		return nil, nil
	}
	var steps []string
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path):
			i++
			b.WriteByte(path[i])
		case c == '.':
			steps = append(steps, b.String())
			b.Reset()
		case strings.IndexByte(`#*?|@$[]{}()!%<>="'\`, c) >= 0:
			return nil, errors.New("a path is names and list positions joined by dots, such as choices.0.text; put \\ before any other sign")
		default:
			b.WriteByte(c)
		}
	}
	steps = append(steps, b.String())
	for _, s := range steps {
		if s == "" {
			return nil, errors.New("the path has an empty part")
		}
	}
	return steps, nil
}

// finder finds the values at several paths of a frame.
type finder []string // in gjson's spelling; "" is the frame itself

// add returns the place that the value at path will have in find's result.
func (f *finder) add(steps []string) int {
	escaped := make([]string, len(steps))
	for i, s := range steps {
		escaped[i] = gjson.Escape(s)
	}
	*f = append(*f, strings.Join(escaped, "."))
	return len(*f) - 1
}

// find sets found[i] to the value at path i, empty if nothing is there. data must
// be valid JSON, not too deep: gjson takes that on trust.
func (f finder) find(data []byte, found [][]byte) {
	text := unsafe.String(unsafe.SliceData(data), len(data)) // gjson.GetBytes would copy each value
	for i, path := range f {
		if found[i] = data; path != "" {
			r := gjson.Get(text, path)
			found[i] = data[r.Index : r.Index+len(r.Raw)]
		}
	}
}
