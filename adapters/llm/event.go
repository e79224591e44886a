package llm

// Finish says why a choice ended, in OpenAI's words. The zero value means that
// it has not.
type Finish string

// The reasons a choice may end.
const (
	FinishStop   Finish = "stop"
	FinishLength Finish = "length"
	FinishTools  Finish = "tool_calls"
	FinishFilter Finish = "content_filter"
)

// Event is one thing that a backend said. Its byte slices are valid until the
// next call of whatever produced it. One event concerns one choice; Usage may
// ride on any event and then replaces what was known before.
type Event struct {
	Choice    int
	Text      []byte
	Reasoning []byte
	Tool      *ToolDelta // nil in most events
	Finish    Finish
	Usage     Usage
	Extra     []byte // unknown members of an OpenAI-like chunk: `"a":1,"b":2`, no braces

	// Logprobs are those of the tokens of Text, if the request asked for them. A
	// decoder gives them when it likes, package stream with the text that they
	// make up. Unlike the other bytes, theirs are never used again.
	Logprobs []Logprob
}

// Logprob is a token of the answer with the natural logarithm of its
// probability, and the likeliest tokens at its place. The bytes of a token need
// not be whole runes.
type Logprob struct {
	Token   []byte
	Logprob float64
	Top     []TopLogprob
}

// TopLogprob is a token that could have come.
type TopLogprob struct {
	Token   []byte
	Logprob float64
}

// ToolDelta is a part of a tool call. The first of an Index carries ID and
// Name; Arguments are pieces of JSON text.
type ToolDelta struct {
	Index     int
	ID, Name  string
	Arguments []byte
}

// Usage counts tokens. It means nothing unless Has is set. Estimated says that
// no tokenizer counted some of it.
type Usage struct {
	Prompt, Completion, Cached, Reasoning int
	Has, Estimated                        bool
}
