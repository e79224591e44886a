package openai

import "unicode/utf8"

// plain tells the bytes that stand for themselves in a JSON string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendEscaped appends text as the inside of a JSON string. Bytes that are no
// UTF-8 become U+FFFD. The line ends that Unicode knows beyond LF are escaped,
// because some clients split a stream's lines at them; what HTML gives a
// meaning is not, so that the wire stays readable.
func appendEscaped(dst, text []byte) []byte {
	start := 0
	for i := 0; i < len(text); {
		if plain[text[i]] {
			i++
			continue
		}
		if text[i] < utf8.RuneSelf {
			dst = append(dst, text[start:i]...)
			dst = appendEscapedByte(dst, text[i])
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if known := lineEnd(r); known != "" || r == utf8.RuneError && n == 1 {
			if known == "" {
				known = "\uFFFD"
			}
			dst = append(dst, text[start:i]...)
			dst = append(dst, known...)
			start = i + n
		}
		i += n
	}
	return append(dst, text[start:]...)
}

// appendOneLine appends JSON text in one line: what ends a line between values
// is blanked, what ends one for some clients within strings is escaped.
func appendOneLine(dst, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch known := lineEnd(r); {
		case r == '\n' || r == '\r':
			dst = append(dst, ' ')
		case known != "":
			dst = append(dst, known...)
		default:
			dst = append(dst, text[:n]...)
		}
		text = text[n:]
	}
	return dst
}

func lineEnd(r rune) string {
	switch r {
	case 0x85:
		return `\u0085`
	case 0x2028:
		return `\u2028`
	case 0x2029:
		return `\u2029`
	}
	return ""
}

func appendEscapedByte(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// appendString appends text as a JSON string.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	dst = appendEscaped(dst, []byte(text))
	return append(dst, '"')
}

// maxPiece bounds how much text goes into one chunk, in bytes: each may become
// six, and the line must stay below the 64 KiB that line readers bear.
const maxPiece = 8 << 10

// cut splits off at most maxPiece bytes of text, between two runes.
func cut[T []byte | string](text T) (piece, rest T) { return cutAt(text, maxPiece) }

// cutAt splits off at most n bytes of text, between two runes. n is 4 or more.
func cutAt[T []byte | string](text T, n int) (piece, rest T) {
	if len(text) <= n {
		return text, text[len(text):]
	}
	for least := n - utf8.UTFMax; n > least && !utf8.RuneStart(text[n]); {
		n--
	}
	return text[:n], text[n:]
}

// shortened returns at most n bytes of text, cut between two runes.
func shortened(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
