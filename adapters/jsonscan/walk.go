package jsonscan

import "iter"

// All yields the name (unescaped) and the value of every member of object, in
// order, names that come again included. It is for what a backend says, where
// no check can be got around by saying a thing twice. object must come out of
// data that Valid accepted; anything but an object yields nothing. Neither
// slice is to be kept or changed. Nothing is allocated.
func All(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		i := skipSpace(object, 0)
		if i == len(object) || object[i] != '{' {
			return
		}
		for i++; ; i++ {
			i = skipSpace(object, i)
			if i >= len(object) || object[i] != '"' {
				return
			}
			end := skipString(object, i)
			name := plainName(object[i:end])
			start := min(skipSpace(object, skipSpace(object, end)+1), len(object))
			i = skipValue(object, start)
			if !yield(name, object[start:i]) {
				return
			}
			i = skipSpace(object, i)
		}
	}
}

// AppendUnquoted appends the text of value, a JSON string out of data that
// Valid accepted, to dst as Unquote would return it. Any other value appends
// nothing.
func AppendUnquoted(dst, value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return dst
	}
	return unescape(dst, value[1:len(value)-1])
}
