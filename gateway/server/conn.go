package server

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// listener gives fasthttp connections that know their server.
type listener struct {
	net.Listener
	s      *Server
	warned time.Time // when the log last told that connections wait
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.accept()
	if err != nil {
		return nil, err
	}
	w := &conn{Conn: c, stall: l.s.o.WriteStall, set: &l.s.conns}
	if !w.set.add(w) {
		_ = c.Close()
		return nil, net.ErrClosed
	}
	return w, nil
}

// accept waits out what passes by itself, above all a lack of file descriptors:
// fasthttp would stop serving for it.
func (l *listener) accept() (net.Conn, error) {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		c, err := l.Listener.Accept()
		if err == nil || !passes(err) {
			return c, err
		}
		if time.Since(l.warned) > time.Minute {
			l.s.log.Warn("new connections have to wait", "error", err)
			l.warned = time.Now()
		}
		time.Sleep(wait)
	}
}

func passes(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && slices.Contains([]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}, errno)
}

// conn is a client's connection whose writes must make progress and whose
// closing does not destroy an answer that the client has yet to read.
type conn struct {
	net.Conn
	stall  time.Duration
	set    *conns
	linger atomic.Bool // the client may still be sending what nobody reads
	closed sync.Once
}

// Write fails when the client takes nothing for c.stall. However slow a client
// that takes something is, it may go on.
func (c *conn) Write(p []byte) (n int, err error) {
	for {
		_ = c.Conn.SetWriteDeadline(time.Now().Add(c.stall))
		m, err := c.Conn.Write(p[n:])
		n += m
		if err == nil || m == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}

// Close closes the connection. If the client may still be sending, it first
// takes that for a while: closing a socket with unread data resets it, and the
// client would lose the answer that says why.
func (c *conn) Close() error {
	if c.linger.Swap(false) {
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			_ = c.Conn.SetReadDeadline(time.Now().Add(lingerFor))
			_, _ = io.Copy(io.Discard, c.Conn)
		}
	}
	return c.abort()
}

func (c *conn) abort() error {
	err := c.Conn.Close()
	c.closed.Do(func() { c.set.remove(c) })
	return err
}

// SyscallConn gives the socket itself, for the disconnect watch.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	if sc, ok := c.Conn.(syscall.Conn); ok {
		return sc.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// conns is the set of open connections and listeners. The zero value is empty.
type conns struct {
	mu        sync.Mutex
	open      map[*conn]fasthttp.ConnState
	listeners []net.Listener
	empty     chan struct{} // not nil once draining; closed when open is empty
}

// listen adds a listener, or closes it and returns false if it is too late.
func (s *conns) listen(ln net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty != nil {
		_ = ln.Close()
		return false
	}
	s.listeners = append(s.listeners, ln)
	return true
}

func (s *conns) closeListeners() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ln := range s.listeners {
		_ = ln.Close()
	}
	s.listeners = nil
}

// add returns false while draining.
func (s *conns) add(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.empty != nil {
		return false
	}
	if s.open == nil {
		s.open = map[*conn]fasthttp.ConnState{}
	}
	s.open[c] = fasthttp.StateNew
	return true
}

func (s *conns) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	if s.empty != nil && len(s.open) == 0 {
		close(s.empty)
	}
}

// note is fasthttp's hook. While draining, a connection ends with its request.
func (s *conns) note(nc net.Conn, state fasthttp.ConnState) {
	c, ok := nc.(*conn)
	if !ok {
		return
	}
	s.mu.Lock()
	if _, open := s.open[c]; open {
		s.open[c] = state
	}
	end := s.empty != nil && state == fasthttp.StateIdle
	s.mu.Unlock()
	if end {
		_ = c.Close()
	}
}

func (s *conns) draining() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.empty != nil
}

// drain closes the listeners and the connections without a request, and returns
// a channel that is closed when the last connection is.
func (s *conns) drain() <-chan struct{} {
	s.closeListeners()
	s.mu.Lock()
	if s.empty != nil {
		defer s.mu.Unlock()
		return s.empty
	}
	s.empty = make(chan struct{})
	var idle []*conn
	for c, state := range s.open {
		if state == fasthttp.StateIdle || state == fasthttp.StateNew {
			idle = append(idle, c)
		}
	}
	empty := s.empty
	if len(s.open) == 0 {
		close(empty)
	}
	s.mu.Unlock()
	for _, c := range idle {
		_ = c.abort()
	}
	return empty
}

func (s *conns) closeAll() {
	s.mu.Lock()
	all := make([]*conn, 0, len(s.open))
	for c := range s.open {
		all = append(all, c)
	}
	s.mu.Unlock()
	for _, c := range all {
		_ = c.abort()
	}
}
