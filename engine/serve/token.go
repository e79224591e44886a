package serve

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"
)

// appendToken appends the line of one token: its text, or its bytes in base64
// where they are not text by themselves.
func (s *Server) appendToken(dst []byte, id int32) []byte {
	var room [64]byte
	piece := s.vocab.Piece(room[:0], id)
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	if utf8.Valid(piece) {
		dst = append(dst, `,"text":"`...)
		dst = appendEscaped(dst, piece)
	} else {
		dst = append(dst, `,"bytes":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, piece)
	}
	return append(dst, '"', '}', '\n')
}

// appendEscaped appends text as the inside of a JSON string. Of valid UTF-8
// only quotes, backslashes and control characters need an escape.
func appendEscaped(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < ' ' || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
