// Package adapters teaches the gateway to speak to backends. An adapter says
// what is particular about one backend's protocol, as facts (Traits) and as two
// small functions: a request becomes a Call, a frame becomes events. Package
// stream does everything that backends have in common.
package adapters

import (
	"context"
	"net/http"

	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// Adapter speaks one backend protocol. It holds no state of a request and is
// safe for concurrent use.
type Adapter interface {
	// Traits returns the facts about the protocol. The caller must not change them.
	Traits() *Traits

	// Request translates req into one HTTP call. It does not keep req.
	Request(req *llm.Request) (Call, error)

	// Decoder returns a decoder for the one answer to req.
	Decoder(req *llm.Request) Decoder
}

// Call is an HTTP request without a transport: Path is appended to the
// backend's URL. A nil Body is no body.
type Call struct {
	Method string
	Path   string
	URL    string // whole, in place of the backend's and Path, for a Follower that was told one
	Header http.Header
	Body   []byte
}

// Decoder turns the frames of one answer into events. It is used by one
// goroutine.
type Decoder interface {
	// Decode appends the events of one frame to dst. It must not keep fr.Data;
	// the events' byte slices are valid until the next call. A failure that the
	// backend reports in the frame is returned as an *llm.Error; any other error
	// means that the frame could not be understood.
	Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error)
}

// Follower is implemented by decoders of protocols in two steps: the backend
// answers the first call with the address of the stream.
type Follower interface {
	// Follow reads the 2xx answer to the call of Adapter.Request, at most 1 MiB, and
	// returns the call whose answer is the stream. A URL that it names must be https
	// or the backend's own host, and only the backend's own host gets its headers.
	Follow(answer []byte) (Call, error)
}

// Canceler is implemented by decoders of answers that the backend goes on with
// for long after the connection is closed.
type Canceler interface {
	// Cancel returns the call that ends the answer; false if there is none. It is
	// called at most once, when the answer is not wanted any more.
	Cancel() (Call, bool)
}

// Traits are the facts about a backend's protocol that the shared machinery
// needs. They are data, so that YAML can state them as well as Go can.
type Traits struct {
	Framing frame.Kind

	Messages bool // the backend takes messages; otherwise it takes a prompt

	Cumulative   bool     // every frame repeats the whole text so far
	EchoPrompt   bool     // the text begins with the prompt
	EndMarker    string   // a frame with exactly this text ends the stream, such as [DONE]
	EndTexts     []string // texts such as </s> that are cut off at the very end of an answer
	EOFIsFinish  bool     // the protocol never says why it stopped: a proper end means stop
	Unary        bool     // a non-stream request uses the backend's non-stream route, answered in one whole frame
	SingleChoice bool     // choice indexes in frames mean nothing: there is only one choice

	// Accepts lists by OpenAI field name what the backend can do: sampling
	// settings (temperature, stop, ...) and needs (tools, n, response_format, ...);
	// input_ids is token ids in place of texts, of an Embedder.
	Accepts []string

	// Fields tells the client's names of parts of a request that the backend's
	// errors name otherwise: json_schema may be response_format.json_schema.schema.
	Fields map[string]string

	MaxConcurrent int  // how many requests the backend bears at once; 0 is no bound
	EmbedBatch    int  // how many inputs an Embedder's call may have; 0 is no bound
	NoMaxTokens   bool // max_tokens may be left out, and then means no limit, or what a Fitter says
	PromptStops   bool // a prompt that the client wrote ends at the chat template's stops, too

	Health Question // whether the backend can take requests; no Path: nothing says
	Models Question // what the backend serves; no Path: nothing says

	KeyHeader string // the header that holds the backend's key and nothing else; "" is Authorization, after Bearer
	Signing   string // AWS's name for the service, where calls without a key are signed for it (SigV4); "": they are not
}

// Question is a call, without a body or with {} as one, and where its answer
// holds what is of interest.
type Question struct {
	Method string // "" is GET
	Path   string

	// Field is the path (gjson's) of a value of the answer: for Health of the word
	// that is one of Is where the backend is well, "" if any 2xx answer says so; for
	// Models of a name or a list of names.
	Field string
	Is    []string
}

// CanDo reports whether field is among t.Accepts.
func (t *Traits) CanDo(field string) bool {
	for _, f := range t.Accepts {
		if f == field {
			return true
		}
	}
	return false
}

// Ask sends one call to a backend and returns the body of its 2xx answer, at
// most 1 MiB. The error of any other answer is an *llm.Error.
type Ask func(ctx context.Context, call Call) ([]byte, error)

// Template renders a conversation into the prompt of one model. It is safe for
// concurrent use.
type Template interface {
	// Render returns the prompt for req.Messages, and the texts and token ids at
	// which the model's turn ends, beyond those of the request. A conversation
	// that the template refuses is an *llm.Error with status 400.
	Render(req *llm.Request) (Rendered, error)
}

// Rendered is what a Template made of a conversation.
type Rendered struct {
	Prompt       llm.Prompt
	Stop         []string
	StopTokenIDs []int

	// Tools says that the template shows the model the tools of a request. With
	// one that does not, a request that offers tools must not be answered.
	Tools bool

	// OpensThink says that the prompt ends inside of the model's reasoning: the
	// answer goes on with it, and ends it with a closing tag.
	OpensThink bool

	// Source holds the tags and the notation of tool calls that the model writes:
	// the template's own text, and what it makes of a call. "" is unknown.
	Source string
}

// Templater is implemented by adapters whose backends can be asked for their
// chat template. It is called once for each model of a backend and again after
// the backend was lost.
type Templater interface {
	Template(ctx context.Context, ask Ask, model string) (Template, error)
}

// Fitter is implemented by adapters whose backends would cut a prompt without a
// word where it and max_tokens do not fit the model's context together.
type Fitter interface {
	// Fit returns the max_tokens to send, req.MaxTokens or what room there is; where
	// that cannot be told, req.MaxTokens, which is not positive if there is no bound.
	// A prompt that leaves no room is an *llm.Error. It is called for each request,
	// when its prompt is rendered.
	Fit(ctx context.Context, ask Ask, req *llm.Request) (int64, error)
}

// Counter is implemented by adapters whose backends count tokens.
type Counter interface {
	// Count returns how many tokens prompt is for model, and how many prompt and
	// answer may have together.
	Count(ctx context.Context, ask Ask, model, prompt string) (tokens, context int, err error)
}

// Finder is implemented by adapters whose servers may be known to a controller:
// one that says which of them is to answer a request, and which models there are.
// ask reaches the controller.
type Finder interface {
	// Find returns the URL of the server that is to answer one request for model,
	// "" if there is none now. It is called anew for each attempt.
	Find(ctx context.Context, ask Ask, model string) (url string, err error)

	// Models returns the names of the models that are served now, in any order.
	Models(ctx context.Context, ask Ask) ([]string, error)
}
