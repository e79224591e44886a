package server

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/openai"
)

// Router finds models. It is safe for concurrent use.
type Router interface {
	// Pick returns the model that a client named; an unknown name is an
	// *llm.Error with status 404.
	Pick(name string) (Model, error)
	// Models lists what clients are told of; ctx ends the wait for servers that
	// know of models.
	Models(ctx context.Context) []openai.ModelInfo
	// Describe returns what clients are told of one model; an unknown name is an
	// *llm.Error with status 404.
	Describe(ctx context.Context, name string) (openai.ModelInfo, error)
}

// Model answers requests.
type Model interface {
	// Name is what the access log calls the model's place in the configuration.
	Name() string
	// Open starts the answer to req and returns with its first event. ctx ends
	// it at any time, also after Open has returned.
	Open(ctx context.Context, req *llm.Request) (stream.Source, error)
	// Embed returns the embeddings that req asks for.
	Embed(ctx context.Context, req *llm.EmbedRequest) (*llm.Embeddings, error)
	// Count returns how many tokens prompt is, and how many prompt and answer may
	// have together.
	Count(ctx context.Context, prompt string) (tokens, context int, err error)
}

// Options configure a Server. Zero durations and sizes mean the defaults.
type Options struct {
	Router Router
	Log    *slog.Logger // nil is slog.Default()

	// ForwardAuth hands a client's Authorization header to the Router, which sends
	// it on only where the configuration says so. nil drops it.
	ForwardAuth func(ctx context.Context, authorization string) context.Context

	// Trace has the Router note under ctx what it does for the request id, and
	// returns what tells it for the access log: the backend that was asked last,
	// "" if none was, and how many attempts there were. nil: the log does not say.
	Trace func(ctx context.Context, id string) (context.Context, func() (backend string, attempts int))

	Keys    []string // clients must send one of them; none: everyone may come
	Origins []string // browser origins that may call; "*" is any
	Hosts   []string // Host names served without keys, beside IP addresses and localhost

	BodyLimit   int64         // bytes of one request; 32 MiB
	CommitAfter time.Duration // until then a stream's failure is an HTTP status; 10 s
	KeepAlive   time.Duration // longest silence in a stream; 15 s
	WriteStall  time.Duration // longest write without progress; 30 s

	HeaderTimeout time.Duration // for a request's header; 10 s
	BodyTimeout   time.Duration // for its body, prolonged by what arrives; 30 s
	IdleTimeout   time.Duration // between requests of a connection; 120 s
}

const (
	readBuffer  = 16 << 10        // bounds a request's header
	maxAnswer   = 64 << 20        // bytes of a collected answer
	lastWords   = 3 * time.Second // for cancelled requests to end by themselves
	lingerFor   = 2 * time.Second // how long a refused client may go on sending
	bodyMinRate = 64 << 10        // bytes per second that prolong BodyTimeout
	drainAtMost = 1 << 20         // bytes of an unread body that are read to keep a connection,
	drainFor    = time.Second     // if they come soon: the reply waits for them
)

// errStopped is the cause with which Shutdown cancels what still runs.
var errStopped = errors.New("the server stops")

// Server serves the OpenAI API. Make one with New.
type Server struct {
	o     Options
	log   *slog.Logger
	keys  [][32]byte
	fast  *fasthttp.Server
	base  context.Context // ends with errStopped
	stop  context.CancelCauseFunc
	conns conns
}

// New returns a server that serves nothing yet.
func New(o Options) *Server {
	o.BodyLimit = cmp.Or(o.BodyLimit, 32<<20)
	o.CommitAfter = cmp.Or(o.CommitAfter, 10*time.Second)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.WriteStall = cmp.Or(o.WriteStall, 30*time.Second)
	o.HeaderTimeout = cmp.Or(o.HeaderTimeout, 10*time.Second)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, 30*time.Second)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 120*time.Second)
	s := &Server{o: o, log: cmp.Or(o.Log, slog.Default()), keys: hashKeys(o.Keys)}
	s.base, s.stop = context.WithCancelCause(context.Background())
	s.fast = &fasthttp.Server{
		Handler:        s.serve,
		ErrorHandler:   s.refuse,
		HeaderReceived: s.beforeBody,
		ConnState:      s.conns.note,
		Logger:         fastLog{s.log},

		ReadBufferSize: readBuffer,
		ReadTimeout:    o.HeaderTimeout, // beforeBody and readSome set another for the body
		IdleTimeout:    o.IdleTimeout,

		// The handler reads the body, so that it can refuse one unread and
		// bound its time. WriteTimeout would bound a whole stream: conn.Write
		// bounds each write instead. Of the body fasthttp reads first what is
		// less than MaxRequestBodySize and 8 KiB: it bounds nothing else here.
		StreamRequestBody:            true,
		MaxRequestBodySize:           1,
		DisablePreParseMultipartForm: true,
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		SecureErrorLogMessage:        true, // headers hold keys
	}
	return s
}

// Serve serves the listeners until Shutdown closes them, then returns nil; or
// until one fails, then closes them all and returns why. It may be called once.
func (s *Server) Serve(listeners ...net.Listener) error {
	errs := make(chan error, len(listeners))
	for _, ln := range listeners {
		if !s.conns.listen(ln) {
			return nil // Shutdown came first
		}
		go func() { errs <- s.fast.Serve(&listener{Listener: ln, s: s}) }()
	}
	var first error
	for range listeners {
		if err := <-errs; err != nil && first == nil {
			first = err
			s.conns.closeListeners()
		}
	}
	return first
}

// Shutdown stops listening, closes idle connections and waits for the requests
// in flight. When ctx ends it cancels them: streams end with an error frame, and
// after a short grace every connection is closed. It returns nil if nothing had
// to be cancelled, else the cause of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	defer s.stop(errStopped)
	empty := s.conns.drain()
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
	}
	s.stop(errStopped)
	grace := time.NewTimer(lastWords)
	defer grace.Stop()
	select {
	case <-empty:
	case <-grace.C:
		s.conns.closeAll()
		<-empty
	}
	return context.Cause(ctx)
}

// fastLog takes fasthttp's own complaints, which are about broken connections.
type fastLog struct{ log *slog.Logger }

func (l fastLog) Printf(format string, args ...any) {
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = wordless(err)
		}
	}
	l.log.Debug("connection trouble", "detail", formatBounded(format, args...))
}
