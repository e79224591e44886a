package serve

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"dragoman/engine/sample"
)

// appendToken appends the line of one token. Control tokens whose spelling is a
// part of one of the texts spell are spelled.
func (s *Server) appendToken(dst []byte, t *sample.Token, logprobs bool, spell []string) []byte {
	dst = s.appendID(dst, t.ID, len(spell) > 0 && s.spells(t.ID, spell))
	if logprobs {
		dst = appendLogprob(dst, t.Logprob)
		dst = append(dst, `,"top":[`...)
		for i, r := range t.Top {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = s.appendID(dst, r.ID, true)
			dst = append(appendLogprob(dst, r.Logprob), '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}', '\n')
}

// spells reports whether a token is a control token that is a part of one of
// the texts.
func (s *Server) spells(id int32, texts []string) bool {
	name := s.vocab.Special(id)
	return name != "" && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, name) })
}

// appendLogprob appends a log-probability, to four digits or more: a token's
// own, which float32 carries, is not known better.
func appendLogprob(dst []byte, x float64) []byte {
	dst = append(dst, `,"logprob":`...)
	x = math.Round(x*1e6) / 1e6
	return strconv.AppendFloat(dst, min(x, 0)+0, 'f', -1, 64)
}

// appendID appends the beginning of an object that names a token: its id, and
// its text, or its bytes in base64 where they are not text by themselves. A
// control token stands for no text; where it is spelled, that is marked.
func (s *Server) appendID(dst []byte, id int32, spelled bool) []byte {
	var room [64]byte
	piece := room[:0]
	dst = append(dst, `{"id":`...)
	dst = strconv.AppendInt(dst, int64(id), 10)
	if spelled {
		piece = append(piece, s.vocab.Special(id)...)
	}
	if len(piece) > 0 {
		dst = append(dst, `,"special":true`...)
	} else {
		piece = s.vocab.Piece(piece, id)
	}
	if utf8.Valid(piece) {
		dst = append(dst, `,"text":"`...)
		dst = appendEscaped(dst, piece)
	} else {
		dst = append(dst, `,"bytes":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, piece)
	}
	return append(dst, '"')
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
