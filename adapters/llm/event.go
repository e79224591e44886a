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
