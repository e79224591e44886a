package stream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream/wstest"
)

// The adapters of the tests: one whose messages say when an answer ends, and
// one whose messages are text.
var (
	messages = fake{traits: adapters.Traits{Framing: frame.WS, EndMarker: "[DONE]"}}
	spoken   = fake{plain: true, traits: adapters.Traits{Framing: frame.WS, EOFIsFinish: true}}
)

// said joins messages.
func said(messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(wstest.Message(m))
	}
	return b.String()
}

// However the bytes arrive, a message is a frame, and nothing but a message
// that says so is the end.
func TestSocketMessages(t *testing.T) {
	f := func(a fake, body string, end error, want, wantErr string) {
		t.Helper()
		check(t, a, llm.Request{}, body, end, want, wantErr)
	}
	normal, away, unsaid := wstest.Close(1000, ""), wstest.Close(1001, "bye"), wstest.Close(0, "")
	one, two, last := `{"t":"日本"}`, `{"t":" two"}`, `{"t":"!","f":"stop"}`
	f(messages, said(one, two, last), nil, "日本 two!!stop", "")
	f(messages, said(one, two, last), errReset, "日本 two!!stop", "")
	f(messages, said(one, `{"f":"length"}`, two), nil, "日本!length", "")
	f(messages, said(one, "[DONE]"), nil, "日本!stop", "")
	f(messages, said("", one, "", last), nil, "日本!!stop", "")
	f(messages, wstest.Frame(wstest.Binary, one)+said(last), nil, "日本!!stop", "")
	long := strings.Repeat("word ", 20_000)
	f(messages, said(`{"t":"`+long+`"}`, last), nil, long+"!!stop", "")

	// In parts, and with a ping between them.
	parts := wstest.Frame(wstest.TextBegins, one[:9]) + wstest.Frame(wstest.Ping, "x") + wstest.Frame(wstest.Goes, "") +
		wstest.Frame(wstest.Goes, one[9:10]) + wstest.Frame(wstest.Ends, one[10:])
	f(messages, parts+said(last), nil, "日本!!stop", "")

	// Closed properly, before the answer was complete or as its end.
	for _, closed := range []string{normal, away, unsaid} {
		f(messages, said(one)+closed, nil, "日本", "without saying why")
		f(messages, closed, nil, "", "without saying why")
		f(spoken, said("To be", "", " or\n")+closed, nil, "To be or\n!stop", "")
		f(spoken, closed, errReset, "!stop", "")
	}
	// Broken off: behind a message, in one, with other codes.
	const off = "broke off"
	f(spoken, said("To be"), nil, "To be", off)
	f(spoken, said("To be"), errReset, "To be", off)
	f(spoken, said("To be")+said("or not")[:2], nil, "To be", off)
	f(spoken, said("To be")+said("or not")[:4], nil, "To be", off)
	f(spoken, said("To be")+said(long)[:4], nil, "To be", off)
	f(spoken, said("To be")+wstest.Frame(wstest.TextBegins, "or"), nil, "To be", off)
	f(spoken, said("To be")+normal[:2], nil, "To be", off)
	f(spoken, said("To be")+wstest.Close(1006, ""), nil, "To be", off) // never sent, so no close
	f(spoken, said("To be")+wstest.Close(1011, ""), nil, "To be", "The backend closed the connection with code 1011: close code 1011")
	f(spoken, said("To be")+wstest.Close(1011, "out of memory"), nil, "To be", "with code 1011: out of memory")
	f(spoken, said("To be")+wstest.Close(4000, "x"), nil, "To be", "with code 4000: x")
	// No WebSocket's bytes.
	f(spoken, "HTTP/1.1 400 Bad Request\r\n\r\n", nil, "", "connection to the backend failed")
	f(spoken, said("To be")+"\xff\xff\xff", nil, "To be", off)
	f(spoken, "\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", nil, "", "connection to the backend failed")
}

// What a server says when it closes is an error of its own status and holds no
// secret.
func TestCloseCodes(t *testing.T) {
	f := func(code uint16, wantStatus int) {
		t.Helper()
		up := answering(strings.NewReader(wstest.Close(code, "key KEY123 at backend.test:1234")))
		up.Secrets = []string{"KEY123"}
		e := openError(t, up, messages)
		if e.Status != wantStatus || !strings.Contains(e.Message, ": key *** at ***") || strings.Contains(e.Error(), "KEY") {
			t.Errorf("%d: got %d %q", code, e.Status, e.Error())
		}
	}
	f(1008, 502)
	f(1009, 400)
	f(1011, 502)
	f(1012, 503)
	f(1013, 503)
	f(3000, 502)
}

func TestTooLongMessage(t *testing.T) {
	f := func(body, wantErr string) {
		t.Helper()
		for name, r := range chunkings(body, nil) {
			up := answering(r)
			up.MaxFrame = 100
			text, err := ask(t.Context(), up, spoken, &llm.Request{})
			if wantErr == "" && (err != nil || len(text) != 100) || wantErr != "" && (err == nil || !strings.Contains(err.Error(), wantErr)) {
				t.Errorf("%s: %d bytes, %v; want %q", name, len(text), err, wantErr)
			}
		}
	}
	half := strings.Repeat("x", 50)
	const tooMuch = "sent too much at once: frame too long: more than the limit of 100 bytes"
	f(said(half+half)+wstest.Close(1000, ""), "")
	f(said(half, half)+wstest.Close(1000, ""), "")
	f(said(half+half+"x"), tooMuch)
	f(wstest.Frame(wstest.TextBegins, half)+wstest.Frame(wstest.Goes, half)+wstest.Frame(wstest.Ends, "x"), tooMuch)
	f("\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"+half+half+half, tooMuch)
}

// serveSocket starts a backend that agrees to a WebSocket and reads the first
// message.
func serveSocket(t *testing.T, h func(r *http.Request, c *websocket.Conn, first string)) *Upstream {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		kind, first, err := c.Read(context.Background())
		if err != nil || kind != websocket.MessageText {
			t.Errorf("first message: %v, %v", kind, err)
		}
		h(r, c, string(first))
	})
}

func say(t *testing.T, c *websocket.Conn, messages ...string) {
	for _, m := range messages {
		if err := c.Write(context.Background(), websocket.MessageText, []byte(m)); err != nil {
			t.Error(err)
		}
	}
}

func TestDialSends(t *testing.T) {
	up := serveSocket(t, func(r *http.Request, c *websocket.Conn, first string) {
		got := []string{
			r.Method, r.URL.String(), first, r.Header.Get("Authorization"),
			r.Header.Get("Content-Type"), r.Header.Get("Sec-WebSocket-Extensions"), r.Host,
		}
		want := []string{"GET", "/base/gen?v=1", `{"p":"hi"}`, "Bearer KEY123", "", "", "named.test"}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("got %q, want %q", got, want)
		}
		say(t, c, `{"t":"ok","f":"stop"}`)
	})
	up.URL += "/base/?v=1"
	up.Header = http.Header{"authorization": {"Bearer KEY123"}, "Host": {"named.test"}}
	a := messages
	a.header = http.Header{"Content-Type": {"application/json"}}
	if text, err := ask(t.Context(), up, a, &llm.Request{Prompt: prompt("hi")}); text != "ok" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestDialTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		say(t, c, `{"t":"ok"}`, `{"f":"stop"}`)
		c.Read(context.Background())
	}))
	t.Cleanup(server.Close)
	up := &Upstream{URL: server.URL, Client: server.Client()}
	if text, err := ask(t.Context(), up, messages, &llm.Request{}); text != "ok" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// A server that never hangs up by itself gets a proper close after the answer,
// and its pings are answered during it.
func TestPingAndClose(t *testing.T) {
	closed := make(chan websocket.StatusCode, 1)
	up := serveSocket(t, func(_ *http.Request, c *websocket.Conn, _ string) {
		read := make(chan websocket.StatusCode)
		go func() {
			_, _, err := c.Read(context.Background())
			read <- websocket.CloseStatus(err)
		}()
		say(t, c, `{"t":"a"}`)
		if err := c.Ping(context.Background()); err != nil {
			t.Errorf("ping: %v", err)
		}
		say(t, c, `{"t":"b","f":"stop"}`)
		closed <- <-read
	})
	if text, err := ask(t.Context(), up, messages, &llm.Request{}); text != "ab" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if code := <-closed; code != websocket.StatusNormalClosure {
		t.Errorf("closed with %d", code)
	}
}

// A client that leaves closes the connection at once: before the first message,
// in the middle, while nobody waits in Next. So does Close, and a stop string.
func TestLeavingReachesTheSocket(t *testing.T) {
	f := func(body string, leave func(up *Upstream, here <-chan struct{})) {
		t.Helper()
		here, left := make(chan struct{}), make(chan struct{})
		leave(serveSocket(t, func(_ *http.Request, c *websocket.Conn, _ string) {
			defer close(left)
			if body != "" {
				say(t, c, body)
			}
			close(here)
			if _, _, err := c.Read(context.Background()); err == nil || websocket.CloseStatus(err) >= 0 {
				t.Errorf("the connection was not broken: %v", err)
			}
		}), here)
		<-left
	}
	f("", func(up *Upstream, here <-chan struct{}) {
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-here; cancel() }()
		if _, err := Open(ctx, up, messages, &llm.Request{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Open: %v", err)
		}
	})
	hung, left := make(chan struct{}), make(chan struct{})
	up := serve(t, func(_ http.ResponseWriter, r *http.Request) { // before the handshake's answer
		close(hung)
		<-r.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-hung; cancel() }()
	if _, err := Open(ctx, up, messages, &llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("Open: %v", err)
	}
	<-left
	opened := func(ctx context.Context, up *Upstream, stop ...string) *Stream {
		t.Helper()
		s, err := Open(ctx, up, messages, &llm.Request{Stop: stop})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		next(t, s)
		return s
	}
	f(`{"t":"a"}`, func(up *Upstream, _ <-chan struct{}) {
		ctx, cancel := context.WithCancel(t.Context())
		s := opened(ctx, up)
		go cancel()
		if _, err := s.Next(nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Next: %v", err)
		}
	})
	f(`{"t":"a"}`, func(up *Upstream, _ <-chan struct{}) {
		ctx, cancel := context.WithCancel(t.Context())
		opened(ctx, up)
		cancel()
	})
	f(`{"t":"a"}`, func(up *Upstream, _ <-chan struct{}) { opened(t.Context(), up).Close() })
	f(`{"t":"a##b"}`, func(up *Upstream, _ <-chan struct{}) { opened(t.Context(), up, "##") })
}

// A handshake that fails is a call that fails.
func TestHandshakeStatuses(t *testing.T) {
	f := func(status, wantStatus int, wantCode string) {
		t.Helper()
		body := `{"pad":"` + strings.Repeat("x", 5000) + `","error":{"message":"so it is KEY123"}}`
		up := failing(status, http.Header{"Retry-After": {"7"}, "Location": {"http://elsewhere.test/"}}, body)
		up.Secrets = []string{"KEY123"}
		e := openError(t, up, messages)
		if e.Status != wantStatus || e.Code != wantCode || strings.Contains(e.Message, "KEY123") {
			t.Errorf("%d: got %d %s %q", status, e.Status, e.Code, e.Message)
		}
		if auth := wantCode == "upstream_auth"; auth == strings.Contains(e.Message, "so it is ***") {
			t.Errorf("%d: message %q", status, e.Message)
		}
		if kept := wantStatus == 503; kept != (e.RetryAfter == "7") {
			t.Errorf("%d: Retry-After %q", status, e.RetryAfter)
		}
	}
	f(401, 502, "upstream_auth")
	f(403, 502, "upstream_auth")
	f(404, 502, "upstream_not_found")
	f(503, 503, "upstream_error")
	f(200, 502, "upstream_error")
	f(307, 502, "upstream_error")
	f(426, 502, "upstream_error")
}

func TestHandshakeThatLies(t *testing.T) {
	up := answering(nil)
	up.Secrets = []string{"KEY123"}
	up.Client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
		h := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Accept": {"KEY123"}}
		return &http.Response{StatusCode: 101, Header: h, Body: wstest.Deaf(strings.NewReader(said("x")))}, nil
	})
	e := openError(t, up, messages)
	if e.Status != 502 || e.Message != "The backend does not speak the WebSocket protocol." || strings.Contains(e.Error(), "KEY123") {
		t.Errorf("got %d %q", e.Status, e.Error())
	}
	up.Client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 101, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(""))}, nil
	})
	openError(t, up, messages)
}

func TestDialRefused(t *testing.T) {
	up := upstream(t, "http://127.0.0.1:1?key=KEY123") // nobody listens there
	e := openError(t, up, messages)
	if e.Status != 502 || e.Message != "The backend refused the connection." || strings.Contains(e.Error(), "KEY123") {
		t.Errorf("got %d %q", e.Status, e.Error())
	}
}
