package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestCheck19ClientClosesMidStream(t *testing.T) {
	b := newBackend()
	g := start(t, Options{}, backends{"live": b})
	log := g.log.follow()
	w := g.live(b, true)
	b.lines <- "one"
	frames(t, bufio.NewReader(w.head("POST").Body), 2)
	w.Close()
	await(t, "the backend's call to end", b.gone)
	if line := accessLineOf(t, log); !strings.Contains(line, "status=499") {
		t.Errorf("logged %s", line)
	}
}

func TestBC067ClientClosesBeforeTheFirstByte(t *testing.T) {
	for _, stream := range []bool{true, false} {
		b := newBackend()
		g := start(t, Options{}, backends{"live": b})
		log := g.log.follow()
		g.live(b, stream).Close()
		await(t, "the backend's call to end", b.gone)
		if line := accessLineOf(t, log); !strings.Contains(line, "status=499") {
			t.Errorf("logged %s", line)
		}
	}
}

// A stray line end after the body must not hide that the client leaves.
func TestBC067WithStrayBytes(t *testing.T) {
	b := newBackend()
	g := start(t, Options{}, backends{"live": b})
	g.live(b, true).send("\r\n").Close()
	await(t, "the backend's call to end", b.gone)
}

func TestBC067HTTP10(t *testing.T) {
	b := newBackend()
	g := start(t, Options{CommitAfter: time.Millisecond}, backends{"live": b})
	w := g.dial()
	body := chatBody("live", true)
	w.send("POST /chat HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	await(t, "the call", b.begun)
	frames(t, bufio.NewReader(w.head("POST").Body), 1)
	w.Close()
	await(t, "the backend's call to end", b.gone)
}

func TestBC068ManyClientsLeave(t *testing.T) {
	const n = 100
	gone := make(chan struct{}, n)
	g := start(t, Options{}, backends{"endless": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for _, err := io.Copy(io.Discard, r.Body); err == nil && r.Context().Err() == nil; <-tick.C {
			if _, err = io.WriteString(w, "on and on\n"); err == nil {
				err = http.NewResponseController(w).Flush()
			}
		}
		gone <- struct{}{}
	})})
	log := g.log.follow()
	var clients []*wire
	for range n {
		w := g.dial()
		w.send("%s", request11("POST", "/v1/chat/completions", chatBody("endless", true)))
		frames(t, bufio.NewReader(w.head("POST").Body), 2)
		clients = append(clients, w)
	}
	for _, w := range clients {
		w.Close()
	}
	for range n {
		await(t, "a backend's call to end", gone)
		if line := accessLineOf(t, log); !strings.Contains(line, "status=499") {
			t.Errorf("logged %s", line)
		}
	}
	// TestMain looks for goroutines left over.
}

func TestBC068ClientStopsReading(t *testing.T) {
	b := newBackend()
	g := start(t, Options{WriteStall: 100 * time.Millisecond}, backends{"live": b})
	log := g.log.follow()
	w := g.live(b, true)
	_ = w.SetReadBuffer(4 << 10)
	line := strings.Repeat("x", 32<<10)
	for {
		select {
		case b.lines <- line:
			continue
		case <-b.gone:
		}
		break
	}
	if line := accessLineOf(t, log); !strings.Contains(line, "status=499") || !strings.Contains(line, "timeout") {
		t.Errorf("logged %s", line)
	}
}

// A client that takes a little now and then is slow, not stalled.
func TestSlowReaderIsNotCut(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	_ = accepted.(*net.TCPConn).SetWriteBuffer(16 << 10)
	_ = client.(*net.TCPConn).SetReadBuffer(16 << 10)
	set := &conns{}
	c := &conn{Conn: accepted, stall: 200 * time.Millisecond, set: set}
	set.add(c)
	const size = 4 << 20
	wrote := make(chan error, 1)
	go func() {
		_, err := c.Write(make([]byte, size))
		wrote <- err
		c.Close()
	}()
	tick := time.NewTicker(5 * time.Millisecond) // in all longer than the stall
	defer tick.Stop()
	got, buf := 0, make([]byte, 64<<10)
	for err == nil {
		var n int
		n, err = client.Read(buf)
		got += n
		<-tick.C
	}
	if err := await(t, "the write", wrote); err != nil || got != size {
		t.Errorf("wrote with %v, read %d bytes", err, got)
	}
}

func TestShutdownLetsStreamsFinish(t *testing.T) {
	b := newBackend()
	g := start(t, Options{}, backends{"live": b})
	idle := g.dial()
	idle.send("%s", request11("GET", "/health", "")).reply("GET")
	w := g.live(b, true)
	b.lines <- "one"
	body := bufio.NewReader(w.head("POST").Body)
	frames(t, body, 2)

	down := make(chan error, 1)
	go func() { down <- g.s.Shutdown(context.Background()) }()
	if _, err := idle.r.ReadByte(); err != io.EOF {
		t.Errorf("the idle connection: %v", err)
	}
	if _, err := net.Dial("tcp", g.addr); err == nil {
		t.Error("it still listens")
	}
	b.lines <- " two"
	b.lines <- "#stop"
	close(b.lines)
	rest, err := io.ReadAll(body)
	if err != nil || !strings.Contains(string(rest), " two") || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the stream: %q, %v", rest, err)
	}
	if err := await(t, "Shutdown", down); err != nil {
		t.Errorf("Shutdown: %v", err)
	}
}

func TestShutdownCancelsAfterTheDrain(t *testing.T) {
	b := newBackend()
	g := start(t, Options{}, backends{"live": b})
	waiting := []*wire{g.live(b, true), g.live(b, true), g.live(b, false)}
	ctx, cancel := context.WithCancel(context.Background())
	down := make(chan error, 1)
	go func() { down <- g.s.Shutdown(ctx) }()
	cancel()
	for _, w := range waiting {
		got := w.reply("POST")
		wantError(t, got, 503, "server_error", "stopping")
	}
	if err := await(t, "Shutdown", down); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	for range 3 {
		await(t, "a backend's call to end", b.gone)
	}
}

func TestShutdownEndsAStreamWithAnErrorFrame(t *testing.T) {
	b := newBackend()
	g := start(t, Options{}, backends{"live": b})
	w := g.live(b, true)
	b.lines <- "one"
	body := bufio.NewReader(w.head("POST").Body)
	frames(t, body, 2)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = g.s.Shutdown(ctx)
	rest, err := io.ReadAll(body)
	if err != nil || !strings.HasPrefix(string(rest), `data: {"error":{"message":"the server is stopping"`) ||
		!strings.HasSuffix(string(rest), "}\n\ndata: [DONE]\n\n") {
		t.Errorf("got %q, %v", rest, err)
	}
}

// shortOf fails to accept now and then, as when file descriptors run out.
type shortOf struct {
	net.Listener
	err   error
	fails int
}

func (l *shortOf) Accept() (net.Conn, error) {
	if l.fails--; l.fails >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", l.err)}
	}
	return l.Listener.Accept()
}

func TestServesOnAfterALackOfDescriptors(t *testing.T) {
	for _, err := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		g := start(t, Options{}, nil, func(ln net.Listener) net.Listener { return &shortOf{Listener: ln, err: err, fails: 3} })
		if got := g.do("GET", "/health", ""); got.StatusCode != 200 {
			t.Errorf("%v: %d", err, got.StatusCode)
		}
		if n := strings.Count(g.log.String(), "new connections have to wait"); n != 1 {
			t.Errorf("%v: logged %d times", err, n)
		}
	}
}

func TestServeReturnsWhatDoesNotPass(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Router: &gateway{}})
	if err := s.Serve(&shortOf{Listener: ln, err: syscall.EINVAL, fails: 1}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("got %v", err)
	}
	if _, err := ln.Accept(); err == nil {
		t.Error("it did not close the listener")
	}
}
