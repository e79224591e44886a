package openai

import (
	"strconv"

	"dragoman/adapters/llm"
)

// Meta is what all chunks of a stream, or an answer, say of themselves.
type Meta struct {
	ID           string
	Created      int64  // seconds since 1970
	Model        string // the name that the client asked for
	Kind         llm.Kind
	IncludeUsage bool     // streams only: end with a usage chunk
	OffersTools  bool     // the request has tools that the model may call
	Logprobs     bool     // the client asked for log-probabilities
	Echo         []string // what a completion's choices begin with; nil is nothing
}

// ChunkWriter writes one stream: it appends server-sent events, each a whole
// line, to a slice that the caller owns. In the steady state it allocates
// nothing. It is used by one goroutine.
type ChunkWriter struct {
	chat        bool
	offersTools bool
	usage       bool
	echo        []string

	head    []byte   // a chunk up to its choices
	tail    string   // and after them, but for extra and the brace
	choices []choice // those that are open; the index is the place
	extra   []byte   // of the event that is being written, or of one that wrote nothing

	logprobs []llm.Logprob // of the chunk that is being written
	offset   int           // where its text begins, in a completion
}

// choice is what the writer remembers of one choice.
type choice struct {
	tools    int // how many calls have begun
	offset   int // characters of a completion's text so far
	finished bool
}

// maxCallName bounds the id and the name of a tool call, so that their line
// stays short; with more than shortCallName the arguments begin in the next one.
const (
	maxCallName   = 4 << 10
	shortCallName = 256
)

// maxExtra bounds the unknown members of a chunk, so that its line stays short;
// more than shortExtra wait for a chunk that carries nothing else.
const (
	maxExtra   = 32 << 10
	shortExtra = 4 << 10
)

// NewChunkWriter returns the writer of a stream that has not begun.
func NewChunkWriter(m Meta) *ChunkWriter {
	w := &ChunkWriter{chat: m.Kind == llm.Chat, offersTools: m.OffersTools, usage: m.IncludeUsage, echo: m.Echo}
	object := "text_completion"
	if w.chat {
		object = "chat.completion.chunk"
	}
	w.head = append(appendHead([]byte("data: "), &m, object), `,"choices":[`...)
	w.tail = "]"
	if w.usage {
		w.tail = `],"usage":null`
	}
	return w
}

// AppendRole opens the stream before anything is known of the answer. It does
// nothing to a stream that is open.
func (w *ChunkWriter) AppendRole(dst []byte) []byte {
	if len(w.choices) > 0 {
		return dst
	}
	if !w.chat && echoed(w.echo, 0) == "" {
		w.choices = append(w.choices, choice{})
		return w.appendIdle(dst, 0)
	}
	return w.open(dst, 0, w.offersTools)
}

// AppendEvent appends the chunks that ev needs: none, or several. ev.Choice is
// below the number of choices that were asked for. ev.Extra must not repeat a
// member that the writer makes.
func (w *ChunkWriter) AppendEvent(dst []byte, ev *llm.Event) []byte {
	if len(ev.Extra) > 0 {
		if w.extra = appendOneLine(w.extra[:0], ev.Extra); len(w.extra) > maxExtra {
			w.extra = w.extra[:0]
		}
	}
	if ev.Choice < 0 || ev.Choice >= maxChoices {
		return dst
	}
	if len(ev.Text) == 0 && len(ev.Reasoning) == 0 && ev.Tool == nil && ev.Finish == "" && len(ev.Logprobs) == 0 {
		return dst
	}
	if ev.Choice >= len(w.choices) {
		isText := len(ev.Text) > 0 || ev.Tool == nil && ev.Finish != ""
		dst = w.open(dst, ev.Choice, w.offersTools && !isText)
	}
	c := &w.choices[ev.Choice]
	if c.finished {
		return dst
	}
	if w.chat {
		dst = w.appendText(dst, ev.Choice, `"delta":{"reasoning_content":"`, ev.Reasoning)
		dst = w.appendLogged(dst, ev.Choice, `"delta":{"content":"`, ev.Text, ev.Logprobs)
		if ev.Tool != nil {
			dst = w.appendTool(dst, ev.Choice, ev.Tool)
		}
	} else {
		dst = w.appendLogged(dst, ev.Choice, `"text":"`, ev.Text, ev.Logprobs)
	}
	if ev.Finish != "" {
		c.finished = true
		dst = w.appendFinish(dst, ev.Choice, ev.Finish)
	}
	return dst
}

// echoed returns what choice i begins with.
func echoed(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}

// open begins choices up to index, so that new indexes come in ascending order:
// clients put them into a list. content is null only in a choice that may turn
// out to be a tool call, which unknown says of the last one: the first
// LangChain adds text to what it finds there.
func (w *ChunkWriter) open(dst []byte, index int, unknown bool) []byte {
	for i := len(w.choices); i <= index; i++ {
		w.choices = append(w.choices, choice{})
		switch {
		case w.chat:
			content := `""}`
			if unknown || i < index && w.offersTools {
				content = "null}"
			}
			dst = w.begin(dst, i)
			dst = append(dst, `"delta":{"role":"assistant","content":`...)
			dst = append(dst, content...)
			dst = w.end(dst, "")
		case echoed(w.echo, i) != "":
			for piece, rest := cut(echoed(w.echo, i)); piece != ""; piece, rest = cut(rest) {
				dst = w.appendText(dst, i, `"text":"`, []byte(piece))
			}
		case i < index:
			dst = w.appendIdle(dst, i)
		}
	}
	return dst
}

// appendText appends text in chunks whose member opens with lead.
func (w *ChunkWriter) appendText(dst []byte, index int, lead string, text []byte) []byte {
	for piece, rest := cut(text); len(piece) > 0; piece, rest = cut(rest) {
		dst = w.appendPiece(dst, index, lead, piece)
	}
	return dst
}

// appendPiece appends one chunk.
func (w *ChunkWriter) appendPiece(dst []byte, index int, lead string, piece []byte) []byte {
	dst = w.begin(dst, index)
	dst = append(dst, lead...)
	dst = appendEscaped(dst, piece)
	dst = append(dst, '"')
	if w.chat {
		dst = append(dst, '}')
	} else {
		c := &w.choices[index]
		w.offset = c.offset
		c.offset += characters(piece)
	}
	return w.end(dst, "")
}

// appendTool appends a part of a tool call. Who it is comes once: clients join
// whatever repeats.
func (w *ChunkWriter) appendTool(dst []byte, index int, t *llm.ToolDelta) []byte {
	c := &w.choices[index]
	first := t.Index >= c.tools
	id, name := shortened(t.ID, maxCallName), shortened(t.Name, maxCallName)
	piece, rest := cut(t.Arguments)
	if first && len(id)+len(name) > shortCallName {
		piece, rest = piece[:0], t.Arguments
	}
	for ; first || len(piece) > 0; piece, rest = cut(rest) {
		dst = w.begin(dst, index)
		dst = append(dst, `"delta":{"tool_calls":[{"index":`...)
		dst = strconv.AppendInt(dst, int64(t.Index), 10)
		if first {
			dst = append(dst, `,"id":`...)
			dst = appendString(dst, id)
			dst = append(dst, `,"type":"function","function":{"name":`...)
			dst = appendString(dst, name)
			dst = append(dst, ',')
			c.tools = t.Index + 1
			first = false
		} else {
			dst = append(dst, `,"function":{`...)
		}
		dst = append(dst, `"arguments":"`...)
		dst = appendEscaped(dst, piece)
		dst = append(dst, `"}}]}`...)
		dst = w.end(dst, "")
	}
	return dst
}

// appendFinish appends the chunk that ends a choice; it carries nothing else.
func (w *ChunkWriter) appendFinish(dst []byte, index int, f llm.Finish) []byte {
	dst = w.begin(dst, index)
	dst = append(dst, w.nothing()...)
	return w.end(dst, finishWord(f))
}

// finishWord keeps to the set that OpenAI's clients know; some die of others.
func finishWord(f llm.Finish) string {
	switch f {
	case llm.FinishStop, llm.FinishLength, llm.FinishTools, llm.FinishFilter:
		return string(f)
	}
	return string(llm.FinishStop)
}

// nothing is the member of a choice that has nothing to say.
func (w *ChunkWriter) nothing() string {
	if w.chat {
		return `"delta":{}`
	}
	return `"text":""`
}

// begin appends a chunk up to what the choice says, end appends the rest.
func (w *ChunkWriter) begin(dst []byte, index int) []byte {
	dst = append(dst, w.head...)
	dst = append(dst, `{"index":`...)
	dst = strconv.AppendInt(dst, int64(index), 10)
	return append(dst, ',')
}

func (w *ChunkWriter) end(dst []byte, finish string) []byte {
	dst = append(dst, `,"logprobs":`...)
	if len(w.logprobs) > 0 {
		dst = appendLogprobs(dst, w.chat, w.logprobs, w.offset)
		w.logprobs = w.logprobs[:0]
	} else {
		dst = append(dst, "null"...)
	}
	dst = append(dst, `,"finish_reason":`...)
	if finish == "" {
		dst = append(dst, "null}"...)
	} else {
		dst = append(dst, '"')
		dst = append(dst, finish...)
		dst = append(dst, `"}`...)
	}
	dst = append(dst, w.tail...)
	return w.appendClose(dst, finish == "")
}

// appendClose appends extra members and ends the chunk, which is full if it may
// be long without them.
func (w *ChunkWriter) appendClose(dst []byte, full bool) []byte {
	if len(w.extra) > 0 && !(full && len(w.extra) > shortExtra) {
		dst = append(dst, ',')
		dst = append(dst, w.extra...)
		w.extra = w.extra[:0]
	}
	return append(dst, "}\n\n"...)
}
