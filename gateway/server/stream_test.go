package server

import (
	"bufio"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// live starts a request to the model of b and waits until it has come there.
func (g *gateway) live(b *backend, stream bool) *wire {
	g.t.Helper()
	w := g.dial()
	w.send("%s", request11("POST", "/v1/chat/completions", chatBody("live", stream)))
	await(g.t, "the call of the backend", b.begun)
	return w
}

func TestCheck51StreamHeaders(t *testing.T) {
	got := hello(t, Options{}).do("POST", "/v1/chat/completions", chatBody("hello", true))
	h := got.Header
	if got.StatusCode != 200 || h.Get("Content-Type") != "text/event-stream; charset=utf-8" || h.Get("Cache-Control") != "no-cache" ||
		h.Get("X-Accel-Buffering") != "no" || h.Get("Content-Length") != "" || h.Get("Content-Encoding") != "" ||
		len(got.TransferEncoding) != 1 || got.TransferEncoding[0] != "chunked" {
		t.Errorf("got %d %v %v", got.StatusCode, h, got.TransferEncoding)
	}
}

func TestCheck52RawFrames(t *testing.T) {
	g := hello(t, Options{})
	for _, target := range []string{"/v1/chat/completions", "/chat"} {
		got := g.do("POST", target, chatBody("hello", true))
		all := frames(t, bufio.NewReader(strings.NewReader(got.body)), strings.Count(got.body, "\n\n"))
		if last := all[len(all)-1]; last != "[DONE]" {
			t.Errorf("the last frame is %q", last)
		}
		for _, want := range []string{`"role":"assistant"`, `"content":"Hello"`, `"content":" world"`, `"finish_reason":"stop"`} {
			if strings.Count(got.body, want) != 1 {
				t.Errorf("%s comes %d times in %s", want, strings.Count(got.body, want), got.body)
			}
		}
	}
}

// BC-071: no frame waits for another.
func TestCheck53EveryFrameAtOnce(t *testing.T) {
	b := newBackend()
	g := start(t, Options{}, backends{"live": b})
	w := g.live(b, true)
	b.lines <- "text 0"
	resp := w.head("POST")
	body := bufio.NewReader(resp.Body)
	frames(t, body, 1) // the role
	for i := range 20 {
		// The backend says the next word only after this one has arrived.
		if got := frames(t, body, 1)[0]; !strings.Contains(got, fmt.Sprintf("text %d", i)) {
			t.Fatalf("frame %d is %s", i, got)
		}
		b.lines <- fmt.Sprintf("text %d", i+1)
	}
	b.lines <- "#stop"
	close(b.lines)
	if rest, err := io.ReadAll(body); err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the end: %q, %v", rest, err)
	}
}

func TestBC071(t *testing.T) { TestCheck53EveryFrameAtOnce(t) }

func TestCheck57ProperEnd(t *testing.T) {
	g := hello(t, Options{})
	w := g.dial()
	w.send("%s", request11("POST", "/v1/chat/completions", chatBody("hello", true), "Connection: close"))
	raw, err := io.ReadAll(w.r)
	if err != nil || !strings.HasSuffix(string(raw), "data: [DONE]\n\n\r\n0\r\n\r\n") {
		t.Errorf("got %q, %v", raw, err)
	}
}

func TestStreamsKeepTheConnection(t *testing.T) {
	g := hello(t, Options{})
	w := g.dial()
	for i := range 50 {
		w.send("%s", request11("POST", "/v1/chat/completions", chatBody("hello", i%2 == 0)))
		if got := w.reply("POST"); got.StatusCode != 200 || !strings.Contains(got.body, "world") {
			t.Fatalf("request %d: %d %s", i, got.StatusCode, got.body)
		}
	}
}

func TestCheck18HTTP10(t *testing.T) {
	b := newBackend()
	g := start(t, Options{}, backends{"live": b})
	w := g.dial()
	body := chatBody("live", true)
	w.send("POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	await(t, "the call", b.begun)
	b.lines <- "one"
	resp := w.head("POST")
	if resp.StatusCode != 200 || len(resp.TransferEncoding) != 0 || resp.ContentLength != -1 || resp.Header.Get("X-Request-Id") == "" ||
		resp.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		t.Errorf("got %d %v %v", resp.StatusCode, resp.Header, resp.TransferEncoding)
	}
	r := bufio.NewReader(resp.Body)
	if got := frames(t, r, 2); !strings.Contains(got[1], `"one"`) {
		t.Errorf("got %q", got)
	}
	b.lines <- "#stop"
	close(b.lines)
	if rest, err := io.ReadAll(r); err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the end: %q, %v", rest, err)
	}

	whole := g.dial()
	whole.send("GET /health HTTP/1.0\r\n\r\n")
	if raw, err := io.ReadAll(whole.r); err != nil || !strings.HasSuffix(string(raw), "\r\n\r\n{\"status\":\"ok\"}") {
		t.Errorf("a whole answer: %q, %v", raw, err)
	}
}

func TestCheck42StreamOptionsWithoutStream(t *testing.T) {
	g := hello(t, Options{})
	body := `{"model":"hello","messages":[{"role":"user","content":"hi"}],"stream":false,"stream_options":{"include_usage":true}}`
	if got := g.do("POST", "/v1/chat/completions", body); got.StatusCode != 200 {
		t.Errorf("got %d %s", got.StatusCode, got.body)
	}
}

func TestCompletions(t *testing.T) {
	g := hello(t, Options{})
	got := g.do("POST", "/v1/completions", `{"model":"hello","prompt":"Say","stream":true}`)
	if got.StatusCode != 200 || !strings.Contains(got.body, `"object":"text_completion"`) || !strings.HasSuffix(got.body, "data: [DONE]\n\n") {
		t.Errorf("got %d %s", got.StatusCode, got.body)
	}
}

func TestCheck68SilenceIsFilled(t *testing.T) {
	b := newBackend()
	g := start(t, Options{KeepAlive: 5 * time.Millisecond}, backends{"live": b})
	w := g.live(b, true)
	b.lines <- "one"
	body := bufio.NewReader(w.head("POST").Body)
	frames(t, body, 2) // role, text
	for _, got := range frames(t, body, 5) {
		if !strings.Contains(got, `"delta":{}`) || !strings.Contains(got, `"finish_reason":null`) {
			t.Errorf("silence is filled with %s", got)
		}
	}
	b.lines <- "#stop"
	close(b.lines)
	if rest, err := io.ReadAll(body); err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the end: %q, %v", rest, err)
	}
}

func TestEarlyCommit(t *testing.T) {
	b := newBackend()
	g := start(t, Options{CommitAfter: time.Millisecond}, backends{"live": b})
	w := g.live(b, true)
	body := bufio.NewReader(w.head("POST").Body) // the backend has said nothing
	if got := frames(t, body, 1)[0]; !strings.Contains(got, `"role":"assistant"`) {
		t.Errorf("the first frame is %s", got)
	}
	b.lines <- "#fail"
	rest, err := io.ReadAll(body)
	if err != nil || !strings.HasPrefix(string(rest), `data: {"error":{"message":"`) || !strings.HasSuffix(string(rest), "}\n\ndata: [DONE]\n\n") {
		t.Errorf("the end: %q, %v", rest, err)
	}
	close(b.lines)
}

func TestCheck69ErrorBeforeTheFirstByte(t *testing.T) {
	down := newBackend()
	close(down.lines)
	g := start(t, Options{}, backends{"fails": says("#fail"), "empty": down})
	for _, stream := range []bool{true, false} {
		got := g.do("POST", "/v1/chat/completions", chatBody("fails", stream))
		wantError(t, got, 502, "server_error", "upstream_error")
		if !strings.Contains(got.body, "the backend gave up") {
			t.Errorf("got %s", got.body)
		}
		if got := g.do("POST", "/v1/chat/completions", chatBody("empty", stream)); got.StatusCode != 502 {
			t.Errorf("an empty answer: %d %s", got.StatusCode, got.body)
		}
		wantError(t, g.do("POST", "/v1/chat/completions", chatBody("nobody", stream)), 404, "invalid_request_error", "model_not_found")
	}
}

func TestCheck70ErrorInTheMiddle(t *testing.T) {
	f := func(last string) {
		t.Helper()
		b := newBackend()
		g := start(t, Options{}, backends{"live": b})
		w := g.live(b, true)
		b.lines <- "one"
		body := bufio.NewReader(w.head("POST").Body)
		frames(t, body, 2)
		b.lines <- last
		close(b.lines)
		rest, err := io.ReadAll(body)
		if err != nil || !strings.HasPrefix(string(rest), `data: {"error":{"message":"`) || strings.Count(string(rest), "data: ") != 2 ||
			!strings.HasSuffix(string(rest), "}\n\ndata: [DONE]\n\n") || strings.Contains(string(rest), "adapter broke") {
			t.Errorf("%s: %q, %v", last, rest, err)
		}
		// The connection serves on.
		if got := w.send("%s", request11("GET", "/health", "")).reply("GET"); got.StatusCode != 200 {
			t.Errorf("%s: then %d", last, got.StatusCode)
		}
	}
	f("#fail")
	f("#cut")
	f("#panic")
}

func TestPanicIs500(t *testing.T) {
	g := hello(t, Options{})
	for _, stream := range []bool{true, false} {
		wantError(t, g.do("POST", "/v1/chat/completions", chatBody("panic", stream)), 500, "server_error", "")
	}
	if got := g.do("GET", "/health", ""); got.StatusCode != 200 {
		t.Errorf("afterwards: %d", got.StatusCode)
	}
	if !strings.Contains(g.log.String(), "no such thing") {
		t.Error("the log does not tell")
	}
}

func TestBC086DuplicateKeys(t *testing.T) {
	g := hello(t, Options{})
	for _, body := range []string{
		`{"model":"hello","messages":[{"role":"user","content":"x"}],"model":"secret"}`,
		`{"model":"hello","messages":[{"role":"user","content":"x"}],"stream":false,"stream":true}`,
		`{"model":"hello","messages":[{"role":"user","content":"x"}],"mod\u0065l":"secret"}`,
		`{"Model":"hello","messages":[{"role":"user","content":"x"}]}`,
	} {
		if got := g.do("POST", "/v1/chat/completions", body); got.StatusCode != 400 {
			t.Errorf("%s: %d %s", body, got.StatusCode, got.body)
		}
	}
}

// The client's and the backend's bytes may come in any pieces.
func TestPieces(t *testing.T) {
	whole := func(s string) []string { return []string{s} }
	single := func(s string) []string { return strings.Split(s, "") }
	random := func(seed int64) func(string) []string {
		return func(s string) (pieces []string) {
			for rng := rand.New(rand.NewSource(seed)); s != ""; {
				n := 1 + rng.Intn(min(40, len(s)))
				pieces, s = append(pieces, s[:n]), s[n:]
			}
			return pieces
		}
	}
	cuts := []func(string) []string{whole, single, random(1), random(2), random(3)}
	var want string
	for _, cut := range cuts {
		g := start(t, Options{}, backends{"hello": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, piece := range cut("Hello\n wörld\n#stop\n") {
				_, _ = io.WriteString(w, piece)
				_ = http.NewResponseController(w).Flush()
			}
		})})
		w := g.dial()
		for _, piece := range cut(request11("POST", "/v1/chat/completions", chatBody("hello", true))) {
			w.send("%s", piece)
		}
		got := w.reply("POST")
		body := regexp.MustCompile(`"id":"[^"]*"|"created":\d+`).ReplaceAllString(got.body, "")
		if want == "" {
			want = body
		}
		if got.StatusCode != 200 || body != want || !strings.Contains(body, "wörld") {
			t.Errorf("got %d %s\nwant %s", got.StatusCode, body, want)
		}
	}
}
