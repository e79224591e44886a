package openai

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"dragoman/adapters/llm"
)

// Bounds of what one line of a stream holds, in bytes: with its text it must stay
// below 64 KiB.
const (
	maxTokens      = 20 << 10 // of a chunk's tokens
	maxToken       = 32 << 10 // of one with all that could have come; a larger one is left out
	maxLoggedPiece = 2 << 10  // of text beside them
)

// impossible is how OpenAI writes the logarithm of no probability at all.
const impossible = -9999

// appendLogprobs appends the logprobs object of a choice. offset is where its
// tokens begin in a completion's text, in characters.
func appendLogprobs(dst []byte, chat bool, tokens []llm.Logprob, offset int) []byte {
	if chat {
		return appendChatLogprobs(dst, tokens)
	}
	return appendTextLogprobs(dst, tokens, offset)
}

func appendChatLogprobs(dst []byte, tokens []llm.Logprob) []byte {
	dst = append(dst, `{"content":[`...)
	for i := range tokens {
		t := &tokens[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendChatToken(dst, t.Token, t.Logprob)
		dst = append(dst, `,"top_logprobs":[`...)
		for j, top := range t.Top {
			if j > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendChatToken(dst, top.Token, top.Logprob), '}')
		}
		dst = append(dst, "]}"...)
	}
	return append(dst, `],"refusal":null}`...)
}

// appendChatToken appends a token up to the brace. Its bytes are exact where its
// text cannot be.
func appendChatToken(dst, token []byte, logprob float64) []byte {
	dst = append(dst, `{"token":`...)
	dst = appendToken(dst, "", token)
	dst = append(dst, `,"logprob":`...)
	dst = appendLogprob(dst, logprob)
	dst = append(dst, `,"bytes":[`...)
	for i, c := range token {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(c), 10)
	}
	return append(dst, ']')
}

func appendTextLogprobs(dst []byte, tokens []llm.Logprob, offset int) []byte {
	dst = append(dst, `{"tokens":[`...)
	for i := range tokens {
		dst = appendToken(comma(dst, i), "bytes:", tokens[i].Token)
	}
	dst = append(dst, `],"token_logprobs":[`...)
	for i := range tokens {
		dst = appendLogprob(comma(dst, i), tokens[i].Logprob)
	}
	dst = append(dst, `],"top_logprobs":[`...)
	for i := range tokens {
		dst = appendTop(comma(dst, i), &tokens[i])
	}
	dst = append(dst, `],"text_offset":[`...)
	for i := range tokens {
		dst = strconv.AppendInt(comma(dst, i), int64(offset), 10)
		offset += characters(tokens[i].Token)
	}
	return append(dst, "]}"...)
}

// appendTop appends the likeliest tokens at one place as an object, and the one
// that came, be it among them or not. Of two that look the same the likelier is
// there.
func appendTop(dst []byte, t *llm.Logprob) []byte {
	dst = append(dst, '{')
	came := false
	n := 0
next:
	for i, top := range t.Top {
		for _, before := range t.Top[:i] {
			if bytes.Equal(before.Token, top.Token) {
				continue next
			}
		}
		came = came || bytes.Equal(top.Token, t.Token)
		dst = append(appendToken(comma(dst, n), "bytes:", top.Token), ':')
		dst = appendLogprob(dst, top.Logprob)
		n++
	}
	if !came {
		dst = append(appendToken(comma(dst, n), "bytes:", t.Token), ':')
		dst = appendLogprob(dst, t.Logprob)
	}
	return append(dst, '}')
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

// appendToken appends a token's text as a JSON string. One that is no text by
// itself is written as OpenAI does it: \xf0\x9f, after lead.
func appendToken(dst []byte, lead string, token []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	if utf8.Valid(token) {
		return append(appendEscaped(dst, token), '"')
	}
	dst = append(dst, lead...)
	for _, c := range token {
		dst = append(dst, `\\x`...)
		dst = append(dst, hex[c>>4], hex[c&15])
	}
	return append(dst, '"')
}

func appendLogprob(dst []byte, x float64) []byte {
	return strconv.AppendFloat(dst, min(max(x, impossible), -impossible), 'f', -1, 64)
}

// characters returns how many runes begin in text.
func characters(text []byte) int {
	n := 0
	for _, c := range text {
		if utf8.RuneStart(c) {
			n++
		}
	}
	return n
}

// size is an upper bound of what a token takes in a line, in bytes.
func size(t *llm.Logprob) int {
	const each, perByte = 64, 10
	n := each + perByte*len(t.Token)
	for _, top := range t.Top {
		n += each + perByte*len(top.Token)
	}
	return n
}

// appendLogged appends text and its tokens, in as many chunks as they need. Each
// has the tokens of its text where that can be told.
func (w *ChunkWriter) appendLogged(dst []byte, index int, lead string, text []byte, tokens []llm.Logprob) []byte {
	for len(tokens) > 0 {
		n, used, length := 0, 0, 0
		for n < len(tokens) && (used == 0 || used+size(&tokens[n]) <= maxTokens) {
			if one := size(&tokens[n]); one <= maxToken {
				w.logprobs = append(w.logprobs, tokens[n])
				used += one
			}
			length += len(tokens[n].Token)
			n++
		}
		tokens = tokens[n:]
		piece := text
		if len(tokens) > 0 && length < len(text) && utf8.RuneStart(text[length]) {
			piece = text[:length]
		}
		text = text[len(piece):]
		piece, rest := cutAt(piece, maxLoggedPiece)
		dst = w.appendPiece(dst, index, lead, piece)
		dst = w.appendText(dst, index, lead, rest)
	}
	return w.appendText(dst, index, lead, text)
}
