package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"
)

// Embedder computes embeddings. *embed.Runner is one.
type Embedder interface {
	// Embed returns a vector for each of inputs, which have tokens, and at most
	// Props.Context.
	Embed(ctx context.Context, inputs [][]int32) ([][]float32, error)
}

// Embeddings is what /props tells of a model that gives them.
type Embeddings struct {
	Dimensions int    `json:"dimensions"`
	Pooling    string `json:"pooling"` // mean, cls or last

	Before, After []int32 `json:"-"` // tokens that the model wants around each input
}

// maxInputs bounds the inputs of one request.
const maxInputs = 2048

// NewEmbedder returns the handler of the routes of a model that gives embeddings,
// as p.Embeddings says.
func NewEmbedder(v Vocab, e Embedder, p Props) *Server {
	s := newServer(v, p)
	s.route(http.MethodPost, "/embed", func(w http.ResponseWriter, r *http.Request) { s.embed(w, r, e) })
	s.route(http.MethodPost, "/generate", func(w http.ResponseWriter, _ *http.Request) {
		writeError(w, invalid("This engine gives embeddings (/embed) and generates nothing."))
	})
	return s
}

// noEmbeddings answers /embed where a model generates.
func noEmbeddings(w http.ResponseWriter, _ *http.Request) {
	writeError(w, invalid("This engine generates text. For embeddings start it with -embeddings (engine: {embeddings: true})."))
}

type embedBody struct {
	Input     [][]piece
	Normalize *bool
}

type embedAnswer struct {
	Embeddings [][]byte `json:"embeddings"` // in base64
	Prompt     int      `json:"prompt_tokens"`
}

func (s *Server) embed(w http.ResponseWriter, r *http.Request, e Embedder) {
	var body embedBody
	if !readBody(w, r, &body) {
		return
	}
	inputs, count, bad := s.inputs(body.Input)
	if bad != nil {
		writeError(w, *bad)
		return
	}
	vectors, err := e.Embed(r.Context(), inputs)
	if err != nil {
		writeError(w, refusal(err))
		return
	}
	answer := embedAnswer{Prompt: count, Embeddings: make([][]byte, len(vectors))}
	for i, v := range vectors {
		if answer.Embeddings[i], err = packed(v, or(body.Normalize, true)); err != nil {
			writeError(w, internal(err))
			return
		}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout))
	writeJSON(w, http.StatusOK, answer)
}

// inputs turns the inputs of a request into tokens, and counts these.
func (s *Server) inputs(list [][]piece) (inputs [][]int32, count int, bad *problem) {
	refuse := func(p problem) ([][]int32, int, *problem) { return nil, 0, &p }
	if len(list) == 0 || len(list) > maxInputs {
		return refuse(invalid(fmt.Sprintf("input has %d inputs: give 1 to %d, each a list of pieces.", len(list), maxInputs)))
	}
	for i, pieces := range list {
		if !slices.ContainsFunc(pieces, func(p piece) bool { return p.Text != "" }) {
			return refuse(invalid(fmt.Sprintf("Input %d is empty.", i)))
		}
		tokens, err := s.tokens(pieces)
		switch {
		case err != nil:
			return refuse(internal(err))
		case len(tokens) == 0:
			return refuse(invalid(fmt.Sprintf("Input %d has no tokens.", i)))
		case len(tokens) > s.props.Context:
			return refuse(problem{
				Status: http.StatusBadRequest, Code: "context_length_exceeded", Context: s.props.Context, PromptTokens: len(tokens),
				Message: fmt.Sprintf("This model's maximum context length is %d tokens. However, input %d has %d tokens.", s.props.Context, i, len(tokens)),
			})
		}
		inputs = append(inputs, tokens)
		count += len(tokens)
	}
	return inputs, count, nil
}

// surrounded returns an input as the model wants it. One that brings the tokens
// before it keeps them, and gets no others.
func (e *Embeddings) surrounded(tokens []int32) []int32 {
	if n := len(e.Before); n > 0 && len(tokens) >= n && slices.Equal(tokens[:n], e.Before) {
		return append(tokens, e.After...)
	}
	return slices.Concat(e.Before, tokens, e.After)
}

// packed returns the numbers of v in 32 bits each, the lowest byte first: divided by
// the vector's length, if it is to be of length 1 and has one.
func packed(v []float32, normalize bool) ([]byte, error) {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, errors.New("the model computed numbers that are none")
	}
	scale := 1.0
	if normalize && sum > 0 {
		scale = 1 / math.Sqrt(sum)
	}
	var out bytes.Buffer
	out.Grow(4 * len(v))
	for _, x := range v {
		out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), math.Float32bits(float32(float64(x)*scale))))
	}
	return out.Bytes(), nil
}
