package harness

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Reply is what a backend answers to one request.
type Reply struct {
	Status   int               // 0 is 200
	Header   map[string]string // Content-Type is sent only if it is here
	Body     string            // a script, see parse
	Unframed bool              // Body is sent with a length, not chunked
}

// Received is one request that a backend got.
type Received struct {
	Method, Path string
	Header       http.Header
	Body         string
	Gone         <-chan struct{} // closed when the gateway's connection is gone or the answer is over
}

// Backend is a fake backend on a loopback port.
type Backend struct {
	URL string

	t        testing.TB
	details  atomic.Bool // replies answers /model_details too
	delivery atomic.Pointer[Delivery]
	listener net.Listener
	replies  func(Received) Reply
	gate     chan struct{}
	got      chan Received
	wait     sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]bool
}

// NewBackend starts a backend that answers each request with what reply
// returns for it. It ends with the test.
func NewBackend(t testing.TB, reply func(Received) Reply) *Backend {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &Backend{
		URL: "http://" + listener.Addr().String(),
		t:   t, listener: listener, replies: reply,
		gate: make(chan struct{}, 1024), got: make(chan Received, 4096), conns: map[net.Conn]bool{},
	}
	b.Deliver(AsWritten)
	b.wait.Go(b.accept)
	t.Cleanup(b.close)
	return b
}

// Script starts a backend that always answers 200 with the script.
func Script(t testing.TB, script string) *Backend {
	t.Helper()
	return NewBackend(t, func(Received) Reply { return Reply{Body: script} })
}

// Deliver sets how the answers to the requests from now on are cut.
func (b *Backend) Deliver(how Delivery) { b.delivery.Store(&how) }

// TellDetails lets the replies answer /model_details, which the fastchat adapter
// asks for before each request; else the backend has no such route.
func (b *Backend) TellDetails() { b.details.Store(true) }

// Continue lets the backend go on at n gates (⏸).
func (b *Backend) Continue(n int) {
	for range n {
		b.gate <- struct{}{}
	}
}

// Request returns the next request that the backend got, and fails the test if
// none comes.
func (b *Backend) Request() Received {
	b.t.Helper()
	select {
	case r := <-b.got:
		return r
	case <-time.After(10 * time.Second):
		b.t.Fatal("the backend got no request")
		return Received{}
	}
}

// Requests returns how many requests wait to be read by Request.
func (b *Backend) Requests() int { return len(b.got) }

func (b *Backend) close() {
	b.listener.Close()
	b.mu.Lock()
	for conn := range b.conns {
		conn.Close()
	}
	b.mu.Unlock()
	b.wait.Wait()
}

func (b *Backend) accept() {
	for {
		conn, err := b.listener.Accept()
		if err != nil {
			return
		}
		b.mu.Lock()
		b.conns[conn] = true
		b.mu.Unlock()
		b.wait.Go(func() {
			b.serve(conn)
			b.mu.Lock()
			delete(b.conns, conn)
			b.mu.Unlock()
			conn.Close()
		})
	}
}

func (b *Backend) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		if req.URL.Path == "/model_details" && !b.details.Load() { // asked by the fastchat adapter before each request; no part of a script
			if _, err := io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"); err != nil {
				return
			}
			continue
		}
		gone := make(chan struct{})
		got := Received{Method: req.Method, Path: req.URL.RequestURI(), Header: req.Header, Body: string(body), Gone: gone}
		reply := b.replies(got)
		b.got <- got
		over := make(chan struct{})
		peer := make(chan struct{})
		b.wait.Go(func() { // sees the gateway leave while nothing is written
			defer close(peer)
			if _, err := in.Peek(1); err != nil {
				select {
				case <-over:
				default:
					close(gone)
				}
			}
		})
		ok := b.answer(conn, reply, gone)
		close(over)
		if !ok {
			conn.Close()
		}
		if !ok || req.Close {
			return
		}
		<-peer
	}
}

// answer writes one reply; false means that the connection is done for.
func (b *Backend) answer(conn net.Conn, r Reply, gone <-chan struct{}) bool {
	status := r.Status
	if status == 0 {
		status = http.StatusOK
	}
	var head strings.Builder
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	for name, value := range r.Header {
		fmt.Fprintf(&head, "%s: %s\r\n", name, value)
	}
	steps := deliver(parse(r.Body), *b.delivery.Load())
	if r.Unframed {
		var body []byte
		for _, s := range steps {
			body = append(body, s.data...)
		}
		_, err := fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", head.String(), len(body), body)
		return err == nil
	}
	head.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	sent := false
	for _, s := range steps {
		if s.gate {
			select {
			case <-b.gate:
			case <-gone:
				return false
			}
		}
		if s.reset {
			if sent {
				return false
			}
			conn.(*net.TCPConn).SetLinger(0)
			return false
		}
		out := ""
		if !sent {
			out, sent = head.String(), true
		}
		if len(s.data) > 0 {
			out += fmt.Sprintf("%x\r\n%s\r\n", len(s.data), s.data)
		}
		if _, err := io.WriteString(conn, out); err != nil {
			return false
		}
	}
	out := "0\r\n\r\n"
	if !sent {
		out = head.String() + out
	}
	_, err := io.WriteString(conn, out)
	return err == nil
}

// Refusing is the URL of a port on which nobody listens. Unlike a port that was
// in use and no longer is, no other test can be given this one.
const Refusing = "http://127.0.0.1:1"
