package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// wire is a client's raw connection.
type wire struct {
	t *testing.T
	*net.TCPConn
	r *bufio.Reader
}

func (g *gateway) dial() *wire {
	g.t.Helper()
	c, err := net.Dial("tcp", g.addr)
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(guard))
	return &wire{g.t, c.(*net.TCPConn), bufio.NewReader(c)}
}

func (w *wire) send(format string, args ...any) *wire {
	w.t.Helper()
	if _, err := fmt.Fprintf(w, format, args...); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// head reads a reply's header.
func (w *wire) head(method string) *http.Response {
	w.t.Helper()
	resp, err := http.ReadResponse(w.r, &http.Request{Method: method})
	if err != nil {
		w.t.Fatal(err)
	}
	return resp
}

// reply is a whole reply.
type reply struct {
	*http.Response
	body string
}

func (w *wire) reply(method string) reply {
	w.t.Helper()
	resp := w.head(method)
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatalf("reading a body: %v after %q", err, body)
	}
	return reply{resp, string(body)}
}

// do sends one request over a new connection.
func (g *gateway) do(method, target, body string, header ...string) reply {
	g.t.Helper()
	w := g.dial()
	w.send("%s", request11(method, target, body, header...))
	return w.reply(method)
}

// request11 is an HTTP/1.1 request. header overrides Host.
func request11(method, target, body string, header ...string) string {
	lines := strings.Join(header, "\r\n")
	if lines != "" {
		lines += "\r\n"
	}
	if !strings.Contains("\n"+strings.ToLower(lines), "\nhost:") {
		lines += "Host: localhost\r\n"
	}
	if body != "" || method == "POST" {
		lines += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return fmt.Sprintf("%s %s HTTP/1.1\r\n%s\r\n%s", method, target, lines, body)
}

// chatBody asks model for a chat answer.
func chatBody(model string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"messages":[{"role":"user","content":"hi"}],"stream":%v}`, model, stream)
}

// frames reads n data frames of a stream, each without its prefix.
func frames(t *testing.T, r *bufio.Reader, n int) []string {
	t.Helper()
	var frames []string
	for range n {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", frames, err)
		}
		empty, err := r.ReadString('\n')
		data, ok := strings.CutPrefix(line, "data: ")
		if err != nil || !ok || empty != "\n" {
			t.Fatalf("no frame: %q, then %q, %v", line, empty, err)
		}
		frames = append(frames, strings.TrimSuffix(data, "\n"))
	}
	return frames
}

// wantError checks a whole error reply.
func wantError(t *testing.T, got reply, status int, kind, code string) {
	t.Helper()
	wantCode := `"code":"` + code + `"`
	if code == "" {
		wantCode = `"code":null`
	}
	if got.StatusCode != status || got.Header.Get("Content-Type") != "application/json" ||
		!strings.HasPrefix(got.body, `{"error":{"message":"`) ||
		!strings.Contains(got.body, `"type":"`+kind+`"`) || !strings.Contains(got.body, wantCode) ||
		got.Header.Get("X-Request-Id") == "" {
		t.Errorf("got %d %v %s, want %d %s %s", got.StatusCode, got.Header, got.body, status, kind, code)
	}
}
