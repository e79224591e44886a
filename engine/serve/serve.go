// Package serve is the engine's HTTP face: it speaks the protocol that
// PROTOCOL.md states. It turns requests into tokens and tokens into lines;
// running the model is left to package sched.
package serve

import (
	"context"
	"net/http"
	"sync"
	"time"

	"dragoman/engine/grammar"
	"dragoman/engine/prompt"
	"dragoman/engine/sched"
)

// Vocab is the model's vocabulary. It must be safe for concurrent use.
type Vocab interface {
	// Tokenize turns a prompt into tokens, without adding any.
	Tokenize([]prompt.Piece) ([]int32, error)
	// Piece appends the bytes that a token stands for to dst.
	Piece(dst []byte, id int32) []byte
	// Special returns the spelling of a control token, "" for any other.
	Special(id int32) string
	// Ends returns the tokens that end an answer.
	Ends() []int32
	// Size returns how many tokens there are; their ids begin at 0.
	Size() int
}

// Runner generates. *sched.Scheduler is one.
type Runner interface {
	Submit(context.Context, sched.Request) (*sched.Stream, error)
}

// Props is what /props tells of the model.
type Props struct {
	Protocol      int      `json:"protocol"`
	Model         string   `json:"model"`
	Context       int      `json:"n_ctx"`
	TrainContext  int      `json:"n_ctx_train"`
	ChatTemplate  string   `json:"chat_template"`
	BOSToken      string   `json:"bos_token"`
	EOSToken      string   `json:"eos_token"`
	AddBOS        bool     `json:"add_bos"`
	SpecialTokens []string `json:"special_tokens"`
	Parallel      int      `json:"parallel"`
	Llama         string   `json:"llama"`
	GPU           string   `json:"gpu,omitempty"`

	Embeddings *Embeddings `json:"embeddings,omitempty"` // nil: the model generates

	BOS int32 `json:"-"` // the token that AddBOS is about
}

// Protocol is the version of the protocol, see PROTOCOL.md.
const Protocol = 1

// MaxBody is how large a request may be, in bytes.
const MaxBody = 32 << 20

// writeTimeout is how long a client may take none of what is written to it.
const writeTimeout = 30 * time.Second

// Server answers requests. It is safe for concurrent use.
type Server struct {
	vocab  Vocab
	runner Runner
	props  Props
	mux    *http.ServeMux

	vocabulary func() *grammar.Vocabulary // made when it is first needed
}

// New returns the handler of a model's routes.
func New(v Vocab, r Runner, p Props) *Server {
	s := newServer(v, p)
	s.runner = r
	s.vocabulary = sync.OnceValue(s.words)
	s.route(http.MethodPost, "/generate", s.generate)
	s.route(http.MethodPost, "/embed", noEmbeddings)
	return s
}

// newServer returns what all models share.
func newServer(v Vocab, p Props) *Server {
	p.Protocol = Protocol
	if p.SpecialTokens == nil {
		p.SpecialTokens = []string{}
	}
	s := &Server{vocab: v, props: p, mux: http.NewServeMux()}
	s.route(http.MethodGet, "/health", s.health)
	s.route(http.MethodGet, "/props", s.getProps)
	s.route(http.MethodPost, "/tokenize", s.tokenize)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, problem{Status: http.StatusNotFound, Code: "not_found", Message: "There is no " + clip(r.URL.Path) + " here."})
	})
	return s
}

// route lets one method through; net/http's own 405 is not JSON.
func (s *Server) route(method, path string, h http.HandlerFunc) {
	s.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != method && (method != http.MethodGet || r.Method != http.MethodHead) {
			w.Header().Set("Allow", method)
			writeError(w, problem{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: path + " takes " + method + "."})
			return
		}
		h(w, r)
	})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (s *Server) getProps(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, s.props)
}

func (s *Server) tokenize(w http.ResponseWriter, r *http.Request) {
	var body struct{ Prompt []piece }
	if !readBody(w, r, &body) {
		return
	}
	tokens, err := s.tokens(body.Prompt)
	if err != nil {
		writeError(w, internal(err))
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Tokens []int32 `json:"tokens"`
		Count  int     `json:"count"`
	}{tokens, len(tokens)})
}

// tokens turns a prompt into tokens and puts the BOS before them, if the model
// wants one and the prompt does not bring its own: templates often do. An input for
// an embedding gets what the model wants around it.
func (s *Server) tokens(pieces []piece) ([]int32, error) {
	list := make([]prompt.Piece, len(pieces))
	for i, p := range pieces {
		list[i] = prompt.Piece(p)
	}
	tokens, err := s.vocab.Tokenize(list)
	if err != nil {
		return nil, err
	}
	if s.props.Embeddings != nil {
		tokens = s.props.Embeddings.surrounded(tokens)
	} else if s.props.AddBOS && (len(tokens) == 0 || tokens[0] != s.props.BOS) {
		tokens = append([]int32{s.props.BOS}, tokens...)
	}
	if tokens == nil {
		tokens = []int32{}
	}
	return tokens, nil
}
