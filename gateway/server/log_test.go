package server

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// logBuffer is a log that tests read.
type logBuffer struct {
	mu    sync.Mutex
	b     bytes.Buffer
	lines []chan string
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(p)
	for _, ch := range l.lines {
		ch <- string(p)
	}
	return len(p), nil
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// follow returns the lines that are written from now on.
func (l *logBuffer) follow() <-chan string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ch := make(chan string, 10000)
	l.lines = append(l.lines, ch)
	return ch
}

// await waits for a channel.
func await[T any](t *testing.T, what string, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(guard):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

// accessLineOf waits for the next line of the access log.
func accessLineOf(t *testing.T, log <-chan string) string {
	t.Helper()
	for {
		if line := await(t, "an access line", log); strings.Contains(line, "msg=request") {
			return line
		}
	}
}

func TestAccessLog(t *testing.T) {
	g := hello(t, Options{})
	log := g.log.follow()
	f := func(got reply, parts ...string) {
		t.Helper()
		line := accessLineOf(t, log)
		for _, part := range append(parts, "id="+got.Header.Get("X-Request-Id"), "duration=", "bytes=") {
			if !strings.Contains(line, part) {
				t.Errorf("no %s in %s", part, line)
			}
		}
		if strings.Contains(line, "sk-") || strings.Contains(line, "content") {
			t.Errorf("it tells too much: %s", line)
		}
	}
	f(g.do("POST", "/v1/chat/completions?api_key=sk-1", chatBody("hello", true), "Authorization: Bearer sk-2"),
		"method=POST", "path=/v1/chat/completions ", "status=200", "model=hello", "backend=hello", "stream=true", "ttft=", "finish=stop")
	f(g.do("POST", "/v1/chat/completions", chatBody("hello", false)), "status=200", "stream=false", "ttft=", "finish=stop")
	f(g.do("GET", "/v1/nope", ""), "method=GET", "path=/v1/nope", "status=404", "error=unknown_url")
	f(g.do("GET", "/health", "", "Bad Header"), "status=400", "error=bad_request", "cause=")
}

// fasthttp's errors quote what they could not read.
func TestKeysInBrokenHeadersStayOutOfTheLog(t *testing.T) {
	g := hello(t, Options{})
	log := g.log.follow()
	f := func(header, cause string) {
		t.Helper()
		w := g.dial()
		w.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n", header)
		if got := w.reply("POST"); got.StatusCode != 400 || strings.Contains(got.body, "sk-") {
			t.Errorf("got %d %s", got.StatusCode, got.body)
		}
		if line := accessLineOf(t, log); !strings.Contains(line, cause) {
			t.Errorf("logged %s", line)
		}
	}
	f("Authorization: Bearer sk-1\x00", "invalid header value ...")
	f("Authorization Bearer sk-1", "missing colon: ...")
	f("Authorization\x00: Bearer sk-1", "malformed mime header line: ...")
	f("Transfer-Encoding: chunked\r\n\r\n0\r\nsk-1", "missing colon: ...")
	w := g.dial()
	w.send("GET /?key=sk-1\r\nAuthorization: Bearer sk-1\r\n\r\n")
	w.reply("GET")
	g.stop()
	g.served <- nil // for the stop at the end of the test
	if strings.Contains(g.log.String(), "sk-") {
		t.Errorf("logged %s", g.log.String())
	}
}

// A client that only knocks asked for nothing.
func TestNoLineForAClientThatOnlyConnects(t *testing.T) {
	g := hello(t, Options{})
	for _, knock := range []func(w *wire){
		func(w *wire) { w.Close() },
		func(w *wire) { _ = w.SetLinger(0); w.Close() },
		func(w *wire) { w.send("GET /v1").Close() },
	} {
		knock(g.dial())
	}
	g.stop()
	g.served <- nil // for the stop at the end of the test
	if strings.Contains(g.log.String(), "msg=request") {
		t.Errorf("logged %s", g.log.String())
	}
}
