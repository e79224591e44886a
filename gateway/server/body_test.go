package server

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestCheck12Encodings(t *testing.T) {
	g := hello(t, Options{})
	for _, coding := range []string{"gzip", "zstd", "deflate", "br", "x-unknown", "gzip, identity"} {
		got := g.do("POST", "/v1/chat/completions", "\x1f\x8b", "Content-Encoding: "+coding)
		wantError(t, got, 415, "invalid_request_error", "unsupported_encoding")
	}
	if got := g.do("POST", "/v1/chat/completions", chatBody("hello", false), "Content-Encoding: Identity"); got.StatusCode != 200 {
		t.Errorf("identity: %d", got.StatusCode)
	}
}

func TestCheck13ContentTypes(t *testing.T) {
	g := hello(t, Options{})
	for _, header := range []string{
		"X: no content type", "Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded",
		"Content-Type: application/json; charset=utf-8", "Content-Type: multipart/form-data; boundary=x",
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA", // Java's own client
	} {
		if got := g.do("POST", "/v1/chat/completions", chatBody("hello", false), header); got.StatusCode != 200 {
			t.Errorf("%s: %d %s", header, got.StatusCode, got.body)
		}
	}
}

func TestCheck14Accept(t *testing.T) {
	g := hello(t, Options{})
	f := func(stream bool, accept, want string) {
		t.Helper()
		got := g.do("POST", "/v1/chat/completions", chatBody("hello", stream), "Accept: "+accept)
		if got.StatusCode != 200 || got.Header.Get("Content-Type") != want {
			t.Errorf("got %d %v", got.StatusCode, got.Header)
		}
	}
	f(false, "text/event-stream", "application/json")
	f(true, "application/json", "text/event-stream; charset=utf-8")
	f(false, "image/png", "application/json")
}

func TestCheck15BadBodies(t *testing.T) {
	g := hello(t, Options{})
	for _, body := range []string{"", "{", "[]", "null", `"x"`, chatBody("hello", false) + "x", strings.Repeat("[", 100_000), "\xff"} {
		if got := g.do("POST", "/v1/chat/completions", body); got.StatusCode != 400 || !strings.Contains(got.body, `{"error":{"message":"`) {
			t.Errorf("%.20q: %d %s", body, got.StatusCode, got.body)
		}
	}
}

func TestCheck16BodyOverTheLimit(t *testing.T) {
	const limit = 512 << 10
	g := hello(t, Options{BodyLimit: limit})
	fit := chatBody("hello", false)
	fit += strings.Repeat(" ", limit-len(fit))
	if got := g.do("POST", "/v1/chat/completions", fit); got.StatusCode != 200 {
		t.Errorf("at the limit: %d %s", got.StatusCode, got.body)
	}
	f := func(keeps bool, size int) {
		t.Helper()
		w := g.dial()
		w.send("%s", request11("POST", "/v1/chat/completions", strings.Repeat(" ", size)))
		got := w.reply("POST")
		wantError(t, got, 413, "invalid_request_error", "request_too_large")
		if got.Close == keeps {
			t.Errorf("%d bytes: connection close is %v", size, got.Close)
		}
		if keeps {
			if got := w.send("%s", request11("GET", "/health", "")).reply("GET"); got.StatusCode != 200 {
				t.Errorf("after %d bytes: %d", size, got.StatusCode)
			}
		}
	}
	f(false, limit+1)
	f(false, 1<<20+1)
}

// An announced size is enough to refuse, even if nothing or next to nothing of
// the body ever comes. The test would end by its guard, with a 408.
func TestBC080AnnouncedSize(t *testing.T) {
	g := hello(t, Options{HeaderTimeout: 10 * guard, BodyTimeout: 10 * guard})
	for _, header := range []string{"X: y", "Expect: 100-continue"} {
		for _, first := range []string{"", "{", chatBody("hello", false)} {
			w := g.dial()
			w.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n%s\r\nContent-Length: 1073741824\r\n\r\n%s", header, first)
			got := w.reply("POST")
			wantError(t, got, 413, "invalid_request_error", "request_too_large")
			if !got.Close {
				t.Errorf("%s, %d bytes: the connection stays", header, len(first))
			}
		}
	}
}

// Also the first bytes of a body are bounded by the body's time, not by the
// header's. The test would end by its guard.
func TestSmallBodyFallsUnderTheBodysTime(t *testing.T) {
	g := hello(t, Options{HeaderTimeout: 10 * guard, BodyTimeout: 100 * time.Millisecond})
	body := chatBody("hello", false)
	for _, first := range []int{0, 1, 20} {
		w := g.dial()
		w.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:first])
		wantError(t, w.reply("POST"), 408, "invalid_request_error", "timeout")
	}
}

// Who is refused need not send the rest first.
func TestRefusedInTheMiddleOfTheBody(t *testing.T) {
	g := hello(t, Options{Keys: []string{"sk-secret"}, BodyTimeout: 10 * guard})
	w := g.dial()
	w.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\n{")
	got := w.reply("POST")
	if got.StatusCode != 401 || !got.Close {
		t.Errorf("got %d, close %v", got.StatusCode, got.Close)
	}
}

// A client that writes everything before it reads must find the answer too.
func TestBC080LimitIsReadable(t *testing.T) {
	g := hello(t, Options{})
	six := fmt.Sprintf(`{"model":"hello","messages":[{"role":"user","content":%q}]}`, strings.Repeat("x", 6<<20))
	if got := g.do("POST", "/v1/chat/completions", six); got.StatusCode != 200 {
		t.Errorf("6 MB: %d %.200s", got.StatusCode, got.body)
	}
	got := g.do("POST", "/v1/chat/completions", strings.Repeat(" ", 32<<20+1))
	wantError(t, got, 413, "invalid_request_error", "request_too_large")
}

func TestBC080EndlessChunkedBody(t *testing.T) {
	g := hello(t, Options{BodyLimit: 1 << 20})
	w := g.dial()
	w.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
	done := make(chan reply, 1)
	go func() { done <- w.reply("POST") }()
	chunk := fmt.Sprintf("10000\r\n%s\r\n", strings.Repeat("x", 1<<16))
	for range 1 << 14 { // 1 GiB, if they let us
		if _, err := io.WriteString(w, chunk); err != nil {
			break
		}
	}
	got := await(t, "the answer", done)
	wantError(t, got, 413, "invalid_request_error", "request_too_large")
}

func TestChunkedBody(t *testing.T) {
	g := hello(t, Options{})
	w := g.dial()
	head := "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
	w.send("%s", head)
	body := chatBody("hello", false)
	for i := range body {
		w.send("1\r\n%c\r\n", body[i])
	}
	w.send("0\r\n\r\n")
	if got := w.reply("POST"); got.StatusCode != 200 {
		t.Errorf("got %d %s", got.StatusCode, got.body)
	}
	w.send("%s", head+"zz\r\n")
	wantError(t, w.reply("POST"), 400, "invalid_request_error", "bad_request")
}

func TestCheck17RefusedBeforeItsBody(t *testing.T) {
	g := hello(t, Options{Keys: []string{"sk-secret"}})
	evil := request11("GET", "/v1/models", "", "Authorization: Bearer sk-secret")
	for _, size := range []int{0, 10, 100 << 10, 900 << 10} {
		w := g.dial()
		first := request11("POST", "/v1/chat/completions", evil+strings.Repeat("x", size))
		w.send("%s", first+request11("GET", "/health", ""))
		if got := w.reply("POST"); got.StatusCode != 401 {
			t.Errorf("first: %d", got.StatusCode)
		}
		if got := w.reply("GET"); got.StatusCode != 200 || got.body != `{"status":"ok"}` {
			t.Errorf("second, after %d bytes: %d %s", size, got.StatusCode, got.body)
		}
	}
}

func TestPipelinedRequests(t *testing.T) {
	g := hello(t, Options{})
	one := request11("POST", "/v1/chat/completions", chatBody("hello", true)) +
		request11("POST", "/v1/chat/completions", chatBody("hello", false)) +
		request11("GET", "/v1/nope", "") + request11("GET", "/health", "")
	w := g.dial()
	w.send("%s", one+one)
	for range 2 {
		if got := w.reply("POST"); !strings.HasSuffix(got.body, "data: [DONE]\n\n") {
			t.Errorf("stream: %q", got.body)
		}
		if got := w.reply("POST"); !strings.Contains(got.body, "Hello world") {
			t.Errorf("whole: %q", got.body)
		}
		if got := w.reply("GET"); got.StatusCode != 404 {
			t.Errorf("unknown: %d", got.StatusCode)
		}
		if got := w.reply("GET"); got.body != `{"status":"ok"}` {
			t.Errorf("health: %q", got.body)
		}
	}
}

func TestExpectContinue(t *testing.T) {
	g := hello(t, Options{})
	body := chatBody("hello", false)
	w := g.dial()
	w.send("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", len(body))
	line, err := w.r.ReadString('\n')
	if err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	_, _ = w.r.ReadString('\n')
	if got := w.send("%s", body).reply("POST"); got.StatusCode != 200 {
		t.Errorf("got %d %s", got.StatusCode, got.body)
	}
}

// Slow senders are cut while a slow but honest stream lives.
func TestBC090SlowSenders(t *testing.T) {
	b := newBackend()
	limit := 150 * time.Millisecond
	g := start(t, Options{HeaderTimeout: limit, BodyTimeout: limit}, backends{"live": b})
	healthy := g.dial()
	healthy.send("%s", request11("POST", "/v1/chat/completions", chatBody("live", true)))
	await(t, "the call", b.begun)
	b.lines <- "one"
	resp := healthy.head("POST")

	trickle := func(w *wire, first string) reply {
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			_, _ = io.WriteString(w, first)
			for {
				select {
				case <-tick.C:
					_, _ = io.WriteString(w, "x")
				case <-stop:
					return
				}
			}
		}()
		got := w.reply("POST")
		close(stop)
		<-done
		return got
	}
	wantError(t, trickle(g.dial(), "GET / HTTP/1.1\r\nX: "), 408, "invalid_request_error", "timeout")
	wantError(t, trickle(g.dial(), "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"),
		408, "invalid_request_error", "timeout")
	wantError(t, trickle(g.dial(), "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 20_000)),
		408, "invalid_request_error", "timeout")

	b.lines <- " two"
	b.lines <- "#stop"
	close(b.lines)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the healthy stream: %q, %v", rest, err)
	}
}
