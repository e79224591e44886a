package openai

import "dragoman/adapters/llm"

const done = "data: [DONE]\n\n"

// AppendKeepAlive appends a chunk that says nothing, for a silent stream: the
// one form of keep-alive that every client was seen to bear. A stream that is
// not open yet opens; one whose choices all have ended stays silent.
func (w *ChunkWriter) AppendKeepAlive(dst []byte) []byte {
	if len(w.choices) == 0 {
		return w.AppendRole(dst)
	}
	for i := range w.choices {
		if !w.choices[i].finished {
			return w.appendIdle(dst, i)
		}
	}
	return dst
}

func (w *ChunkWriter) appendIdle(dst []byte, index int) []byte {
	dst = w.begin(dst, index)
	dst = append(dst, w.nothing()...)
	return w.end(dst, "")
}

// AppendEnd appends the usage chunk, if the client asked for one, and the mark
// that ends every stream. Every choice has had its finish.
func (w *ChunkWriter) AppendEnd(dst []byte, u llm.Usage) []byte {
	if w.usage {
		dst = append(dst, w.head...)
		dst = append(dst, `],"usage":`...)
		dst = appendUsage(dst, u)
		dst = w.appendClose(dst, false)
	}
	return append(dst, done...)
}

// AppendError appends the frame of an error that came after the stream began,
// and the end mark. Clients find the error only if its member comes first; none
// of them takes the answer for a complete one, as no choice is finished here.
func (w *ChunkWriter) AppendError(dst []byte, err error) []byte {
	dst = append(dst, "data: "...)
	dst = AppendErrorBody(dst, err)
	dst = append(dst, "\n\n"...)
	return append(dst, done...)
}
