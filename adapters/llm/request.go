package llm

// Kind says which OpenAI endpoint a request came through, and so whether it
// holds messages or a plain prompt.
type Kind uint8

// The kinds of request.
const (
	Chat       Kind = iota // Messages are set
	Completion             // Prompt is set
)

// Request is one client request, checked by the front end. It is read-only
// once routing has filled in Model, MaxTokens and, for backends that take a
// prompt, Prompt; adapters must not change it.
type Request struct {
	ID       string // of this attempt at one backend: unique, letters and digits; by it the backend is told to stop
	Kind     Kind
	Client   string // who asks: the same text for the same client; "" if nothing tells clients apart
	Model    string // the backend's name of the model, which may differ from the client's
	Messages []Message
	Prompt   Prompt // Completion: the client's text; Chat: the rendered template, if the backend takes a prompt

	// Prompts are all of them, if a completion has several: then Prompt is the first,
	// and choice i is the one of i/N. Adapters see requests of one prompt.
	Prompts []Prompt

	Stream    bool  // the client wants a stream
	MaxTokens int64 // 0: not said; NoLimit: as many as the context allows
	N         int   // choices wanted, at least 1
	Stop      []string
	Params    Params

	// Spell holds the texts by which the answer will be taken apart. A backend
	// that hides control tokens must write out those that are parts of them.
	Spell []string

	// After holds texts, with one of which the answer's own text begins: what the
	// model writes before is something else, such as its reasoning. nil is none.
	After []string

	Logprobs    bool // the answer's tokens shall come with their log-probabilities,
	TopLogprobs int  // and with those of so many of the likeliest tokens

	Needs []Need // what the backend must be able to do, else the request is refused

	// Raw is the client's body, valid JSON, and Members are its top-level
	// members in order, so that an OpenAI-like backend gets numbers and unknown
	// members exactly as they were spelled. Both are nil in tests that do not
	// need them. Members have distinct names.
	Raw     []byte
	Members []Member
}

// NoLimit as MaxTokens means that the client set no bound (it sent -1).
const NoLimit int64 = -1

// Member is one member of a JSON object: offsets into Request.Raw.
type Member struct {
	Name       string // unescaped
	Start, End int    // Raw[Start:End] is the value
}

// Message is one turn of a conversation. Role is one of system, user,
// assistant, tool; the front end has turned developer into system and joined
// text parts.
type Message struct {
	Role       string
	Content    string
	Name       string
	ToolCallID string
	ToolCalls  []ToolCall
	Raw        []byte // the message's own JSON as the client sent it
}

// ToolCall is a call that an assistant message made. Arguments is JSON text.
type ToolCall struct {
	ID, Name, Arguments string
}

// Piece is a part of a prompt. Only a Special piece may become control tokens:
// user text never does.
type Piece struct {
	Text    string
	Special bool
}

// Prompt is the text a backend continues.
type Prompt []Piece

// Text returns the whole prompt as one string, for backends that take only that.
func (p Prompt) Text() string {
	if len(p) == 1 {
		return p[0].Text
	}
	n := 0
	for _, piece := range p {
		n += len(piece.Text)
	}
	text := make([]byte, 0, n)
	for _, piece := range p {
		text = append(text, piece.Text...)
	}
	return string(text)
}

// Need is a part of the request that would change what the answer means, so
// that a backend which cannot do it must not get the request: tools, a JSON
// schema, log-probabilities, an image. Field is the name an adapter lists in
// Traits.Accepts; Path is where the client wrote it, for the error's param.
type Need struct {
	Field string
	Path  string
}
