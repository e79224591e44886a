package stream

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/parse"
)

// Upstream is one configured backend. It is read-only and shared by all calls.
type Upstream struct {
	URL         string      // what a Call's path is appended to, see Join; unix:/path for a socket
	Header      http.Header // sent with every call; the values are treated as secrets
	Client      *http.Client
	First, Idle time.Duration // limits: from the start to the first event, and for each read after it; 0 is none
	MaxFrame    int           // bytes; 0 is frame.DefaultMax
	Secrets     []string      // cut out of every message, as are the values of Header and the address in URL

	// Sign proves to the backend who calls, where that takes more than a header
	// that is always the same: it is given each request, whose body is body, when
	// all else is done, and sets headers. It returns what is a secret of them.
	// Without credentials it fails, and its error goes to the log alone. nil does
	// nothing.
	Sign func(req *http.Request, body []byte) (secrets []string, err error)

	Log *slog.Logger // nil is slog.Default
}

// At returns up for another server, at url, that is reached in the same way. Where
// up itself is stays as secret as it was.
func (up *Upstream) At(url string) *Upstream {
	other := *up
	other.URL = url
	other.Secrets = append(slices.Clip(up.Secrets), addresses(up.URL)...)
	return &other
}

// Open sends req to the backend and returns once the first event of the answer
// is there. Cancelling ctx ends the call, then and later. An error is ctx's own
// or an *llm.Error; nothing has been said to the client then.
func Open(ctx context.Context, up *Upstream, a adapters.Adapter, req *llm.Request) (*Stream, error) {
	return OpenParsed(ctx, up, a, req, nil)
}

// OpenParsed is Open for a model whose text may be more than the answer's text:
// plan says how it is read.
func OpenParsed(ctx context.Context, up *Upstream, a adapters.Adapter, req *llm.Request, plan *parse.Plan) (*Stream, error) {
	call, err := a.Request(req)
	if err != nil {
		return nil, err
	}
	t := a.Traits()
	s := &Stream{up: up, req: req, traits: t, decoder: a.Decoder(req)}
	s.pipe = newPipeline(t, req, plan, s.note)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	s.watch = newWatch(s.cancel, up.First, up.Idle)
	if s.answer, err = s.start(call); err != nil {
		s.watch.stop()
		if s.followed || s.ctx.Err() != nil { // the backend may have the request
			s.abandon()
		}
		s.cancel(nil)
		return nil, err
	}
	for len(s.first) == 0 {
		if s.err != nil {
			s.Close()
			return nil, s.err
		}
		s.first = s.step(nil)
	}
	s.opened = true
	return s, nil
}

// answer is what a backend says to one call.
type answer interface {
	Next() (frame.Frame, error) // as of frame.Reader
	drain()                     // ends a complete answer as its transport likes it best
	Close() error               // ends it at once
}

// start makes the call of the adapter and returns the answer that is the stream.
func (s *Stream) start(call adapters.Call) (answer, error) {
	if follower, ok := s.decoder.(adapters.Follower); ok {
		resp, err := s.send(call)
		if err != nil {
			return nil, err
		}
		told, err := s.readAnswer(resp, maxAnswer)
		if err != nil {
			return nil, err
		}
		s.followed = true
		if call, err = follower.Follow(told); err != nil {
			return nil, s.decodeError(err, told)
		}
	}
	kind := s.traits.Framing
	if s.traits.Unary && !s.req.Stream {
		kind, s.whole = frame.Whole, true
	}
	if kind == frame.WS {
		return s.dial(call)
	}
	resp, err := s.send(call)
	if err != nil {
		return nil, err
	}
	if kind == frame.GRPC {
		resp.Body = &trailed{resp.Body, s.up, resp}
	}
	b := &watched{resp.Body, s.watch}
	return &body{frame.NewReader(kind, b, s.up.MaxFrame), b}, nil
}

// body is an answer over HTTP.
type body struct {
	*frame.Reader
	*watched
}

// drain reads to the end, so that the connection can be used again.
func (b *body) drain() { io.CopyN(io.Discard, b, 64<<10) }

// send makes the call and returns its answer if the status says that it is one.
func (s *Stream) send(call adapters.Call) (*http.Response, error) {
	req, err := newRequest(s.ctx, s.up, call)
	if err != nil {
		return nil, err
	}
	if err := s.sign(req, call); err != nil {
		return nil, err
	}
	resp, err := s.up.do(req)
	if err != nil {
		return nil, s.readError(err)
	}
	if resp.StatusCode/100 == 2 {
		if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
			resp.Body.Close()
			return nil, llm.Upstream(http.StatusBadGateway, "", "The backend compressed its answer, which it was asked not to.")
		}
		return resp, nil
	}
	return nil, s.refused(resp)
}

// refused makes an error of an answer whose status is no success.
func (s *Stream) refused(resp *http.Response) error {
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if s.ctx.Err() != nil {
		return s.readError(err)
	}
	e := s.up.statusError(resp, body)
	e.Param = s.field(e.Param)
	return e
}

// newRequest gives call a transport.
func newRequest(ctx context.Context, up *Upstream, call adapters.Call) (*http.Request, error) {
	method := call.Method
	if method == "" {
		method = http.MethodPost
	}
	var body io.Reader
	if call.Body != nil {
		body = bytes.NewReader(call.Body)
	}
	headers := []http.Header{call.Header, up.Header}
	url := Join(up.URL, call.Path)
	if call.URL != "" {
		url = call.URL
		if !sameHost(url, up.URL) {
			headers = headers[:1]
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if call.URL == "" && err != nil {
		return nil, fmt.Errorf("making the request to the backend: %s", up.clean(err.Error()))
	}
	if err != nil || len(headers) == 1 && req.URL.Scheme != "https" {
		return nil, llm.Upstream(http.StatusBadGateway, "", "The backend names an address of its stream that is not safe to call.")
	}
	for _, h := range headers {
		for name, values := range h {
			req.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
		req.Header.Del("Host")
	}
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	// Proxies and servers that compress also gather, and tokens come late.
	req.Header.Set("Accept-Encoding", "identity")
	// With this key, though it has no value, net/http takes a POST for
	// repeatable: if an idle connection turns out to be closed before a byte of
	// the answer came, it sends the request again on another (golang/go#22158).
	if _, ok := req.Header["Idempotency-Key"]; !ok {
		req.Header["Idempotency-Key"] = nil
	}
	return req, nil
}

// do sends the request. Redirects are answers like others: following them would
// carry keys elsewhere.
func (up *Upstream) do(req *http.Request) (*http.Response, error) {
	client := *up.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client.Do(req)
}
