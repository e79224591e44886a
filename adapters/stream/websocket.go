package stream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// socket is an answer over a WebSocket.
type socket struct {
	up   *Upstream
	conn *websocket.Conn
	wire *wire
	max  int
	buf  []byte // the current message
}

// dial opens the WebSocket that the call's path leads to and sends the call's
// body as its first message.
func (s *Stream) dial(call adapters.Call) (*socket, error) {
	body := call.Body
	call.Method, call.Body = http.MethodGet, nil
	req, err := newRequest(s.ctx, s.up, call)
	if err != nil {
		return nil, err
	}
	req.Header.Del("Content-Type") // which is the body's
	if err := s.sign(req, call); err != nil {
		return nil, err
	}
	h := &handshake{stream: s}
	conn, _, err := websocket.Dial(s.ctx, req.URL.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: h}, HTTPHeader: req.Header, Host: req.Host,
	})
	if err != nil {
		return nil, h.failure(err)
	}
	conn.SetReadLimit(-1) // read has a limit of its own
	c := &socket{up: s.up, conn: conn, wire: h.wire, max: cmp.Or(max(s.up.MaxFrame, 0), frame.DefaultMax)}
	// No context is needed from here on: the wire closes when the call is cancelled.
	if err := conn.Write(context.Background(), websocket.MessageText, body); err != nil {
		c.Close()
		return nil, s.readError(err)
	}
	return c, nil
}

// Next returns the next message that is not empty. Its errors are final: io.EOF
// after a close that says nothing bad, an *llm.Error after one that does.
func (c *socket) Next() (frame.Frame, error) {
	for {
		_, r, err := c.conn.Reader(context.Background())
		if err != nil {
			return frame.Frame{}, c.closed(err)
		}
		if err := c.read(r); err != nil {
			return frame.Frame{}, c.closed(err)
		}
		if len(c.buf) > 0 {
			return frame.Frame{Data: c.buf}, nil
		}
	}
}

// read puts one message into the buffer.
func (c *socket) read(r io.Reader) error {
	c.buf = c.buf[:0]
	for {
		if len(c.buf) == cap(c.buf) {
			grown := make([]byte, len(c.buf), min(max(4<<10, 2*len(c.buf)), c.max+1))
			copy(grown, c.buf)
			c.buf = grown
		}
		n, err := r.Read(c.buf[len(c.buf):cap(c.buf)])
		c.buf = c.buf[:len(c.buf)+n]
		switch {
		case len(c.buf) > c.max:
			return fmt.Errorf("%w: more than the limit of %d bytes", frame.ErrTooLong, c.max)
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// closed says what it means that the connection was closed.
func (c *socket) closed(err error) error {
	var ce websocket.CloseError
	if !errors.As(err, &ce) {
		return err
	}
	status := http.StatusBadGateway
	switch ce.Code {
	case websocket.StatusNormalClosure, websocket.StatusGoingAway, websocket.StatusNoStatusRcvd:
		return io.EOF
	case websocket.StatusMessageTooBig:
		status = http.StatusRequestEntityTooLarge
	case websocket.StatusServiceRestart, websocket.StatusTryAgainLater:
		status = http.StatusServiceUnavailable
	}
	e := adapters.Failure(status, ce.Reason)
	e.Err = fmt.Errorf("close code %d", ce.Code) // for the log, which does not quote messages
	e.Message = fmt.Sprintf("The backend closed the connection with code %d", ce.Code)
	if ce.Reason != "" {
		e.Message += ": " + ce.Reason
	}
	return c.up.cleanError(e)
}

// drain closes the WebSocket as its protocol wants it, for servers that log
// anything else as a failure.
func (c *socket) drain() { c.conn.Close(websocket.StatusNormalClosure, "") }

// Close closes the connection without a word.
func (c *socket) Close() error {
	c.conn.CloseNow() // an error says only that it was closed before
	c.wire.release()
	return nil
}

// handshake is the HTTP call that opens a WebSocket. It is made as any other
// call is, and fails as they do.
type handshake struct {
	stream *Stream
	wire   *wire // nil until the backend has agreed
	err    error
}

// RoundTrip implements http.RoundTripper.
func (h *handshake) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := h.stream.up.do(req)
	switch {
	case err != nil:
		h.err = h.stream.readError(err)
	case resp.StatusCode != http.StatusSwitchingProtocols:
		h.err = h.stream.refused(resp)
	default:
		if conn, ok := resp.Body.(io.ReadWriteCloser); ok {
			h.wire = newWire(h.stream, conn)
			resp.Body = h.wire
		}
		return resp, nil
	}
	return nil, h.err
}

// failure makes the client's error of a handshake that failed.
func (h *handshake) failure(err error) error {
	if h.wire != nil {
		h.wire.release()
	}
	if h.err != nil {
		return h.err
	}
	e := llm.Upstream(http.StatusBadGateway, "", "The backend does not speak the WebSocket protocol.")
	e.Err = err // may quote the backend's headers
	return h.stream.up.cleanError(e)
}

// wire is the connection below a WebSocket. It closes when the call is
// cancelled, whoever waits for it or nobody.
type wire struct {
	watched
	io.Writer
	stop   func() bool
	closed chan struct{} // closed after cancelling has closed the connection
}

func newWire(s *Stream, conn io.ReadWriteCloser) *wire {
	w := &wire{watched: watched{conn, s.watch}, Writer: conn, closed: make(chan struct{})}
	w.stop = context.AfterFunc(s.ctx, func() {
		conn.Close()
		close(w.closed)
	})
	return w
}

// Read implements io.Reader. A WebSocket ends with a message that says so, never
// with the end of the bytes.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.watched.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// release returns when cancelling does nothing to the wire any more.
func (w *wire) release() {
	if !w.stop() {
		<-w.closed
	}
}
