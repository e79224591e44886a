package stream

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// serve starts a backend and returns it as an Upstream with a client of its own.
func serve(t *testing.T, h http.HandlerFunc) *Upstream {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return upstream(t, server.URL)
}

func upstream(t *testing.T, url string) *Upstream {
	t.Helper()
	client, err := NewClient(ClientOptions{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return &Upstream{URL: url, Client: client}
}

// ask runs one answer to its end and returns its text.
func ask(ctx context.Context, up *Upstream, a adapters.Adapter, req *llm.Request) (string, error) {
	s, err := Open(ctx, up, a, req)
	if err != nil {
		return "", err
	}
	defer s.Close()
	answer, err := Collect(s, 1<<20)
	if err != nil {
		return "", err
	}
	return string(answer.Choices[0].Text), nil
}

func TestOpenSends(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, hasKey := r.Header["Idempotency-Key"]
		got := []string{
			r.Method, r.URL.String(), string(body), r.Header.Get("Authorization"),
			r.Header.Get("Accept-Encoding"), r.Header.Get("Content-Type"), r.Host,
		}
		want := []string{"POST", "/base/gen?v=1", `{"p":"hi"}`, "Bearer KEY123", "identity", "application/json", "named.test"}
		if strings.Join(got, "|") != strings.Join(want, "|") || hasKey {
			t.Errorf("got %q, key %v; want %q", got, hasKey, want)
		}
		io.WriteString(w, lines(`{"t":"ok","f":"stop"}`))
	})
	up.URL += "/base/?v=1"
	up.Header = http.Header{"authorization": {"Bearer KEY123"}, "Host": {"named.test"}}
	if text, err := ask(t.Context(), up, deltas, &llm.Request{Prompt: prompt("hi")}); text != "ok" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// A finished answer leaves its connection for the next one, whether the end of
// the body or the end mark ended it.
func TestConnectionIsKept(t *testing.T) {
	var dialled atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, sse(`{"t":"ok"}`, `{"f":"stop"}`, "[DONE]"))
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			dialled.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	up := upstream(t, server.URL)
	unmarked := fake{traits: adapters.Traits{Framing: frame.SSE}}
	unmarked.traits.EOFIsFinish = true
	for range 5 {
		if text, err := ask(t.Context(), up, events, &llm.Request{}); text != "ok" || err != nil {
			t.Fatalf("got %q, %v", text, err)
		}
	}
	if n := dialled.Load(); n != 1 {
		t.Errorf("%d connections for 5 answers", n)
	}
}

// BC-075: a kept connection that the backend has closed costs no error.
func TestStaleConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	body := lines(`{"t":"ok","f":"stop"}`)
	served := make(chan struct{})
	go func() { // each connection serves one request, and is closed at the second
		defer close(served)
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				c.Read(buf)
				io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: "+itoa(len(body))+"\r\n\r\n"+body)
				c.Read(buf)
			}()
		}
	}()
	t.Cleanup(func() { listener.Close(); <-served })
	up := upstream(t, "http://"+listener.Addr().String())
	for i := range 40 {
		if text, err := ask(t.Context(), up, deltas, &llm.Request{}); text != "ok" || err != nil {
			t.Fatalf("call %d: %q, %v", i, text, err)
		}
	}
}

// A client that leaves closes the backend's connection at once: before the
// headers, before the first event, in the middle (BC-067).
func TestCancelReachesTheBackend(t *testing.T) {
	f := func(head, body string) {
		t.Helper()
		here, left := make(chan struct{}), make(chan struct{})
		up := serve(t, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			if head != "" {
				w.(http.Flusher).Flush()
				io.WriteString(w, body)
				w.(http.Flusher).Flush()
			}
			close(here)
			<-r.Context().Done()
			close(left)
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-here; cancel() }()
		_, err := ask(ctx, up, deltas, &llm.Request{})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("head %q, body %q: %v", head, body, err)
		}
		<-left
	}
	f("", "")
	f("head", "")
	f("head", lines(`{"t":"a"}`))
}

// Close before the end closes the backend's connection too.
func TestCloseReachesTheBackend(t *testing.T) {
	left := make(chan struct{})
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, lines(`{"t":"a"}`))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	})
	s, err := Open(t.Context(), up, deltas, &llm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	<-left
}

// BC-016 over a real connection: without its last chunk a body is not complete.
func TestMissingLastChunk(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "To be")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	s, err := Open(t.Context(), up, plain, &llm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if ev := next(t, s); string(ev[0].Text) != "To be" {
		t.Errorf("got %q", ev[0].Text)
	}
	_, err = s.Next(nil)
	wantStatus(t, err, http.StatusBadGateway)
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, lines(`{"t":"`+r.URL.Path+`","f":"stop"}`))
	}))
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	if text, err := ask(t.Context(), upstream(t, "unix:"+path), deltas, &llm.Request{}); text != "/gen" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

// BC-081: localhost reaches a server that listens on IPv4 only.
func TestLocalhost(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, lines(`{"t":"ok","f":"stop"}`)) })
	up.URL = strings.Replace(up.URL, "127.0.0.1", "localhost", 1)
	if text, err := ask(t.Context(), up, deltas, &llm.Request{}); text != "ok" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestAsker(t *testing.T) {
	up := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/ask":
			io.WriteString(w, "answer")
		case "/long":
			io.WriteString(w, strings.Repeat("x", maxAnswer+1))
		default:
			http.NotFound(w, r)
		}
	})
	get := Asker(up)
	if body, err := get(t.Context(), deltas.call()); string(body) != "answer" || err != nil {
		t.Errorf("got %q, %v", body, err)
	}
	if _, err := get(t.Context(), adapters.Call{Path: "/long"}); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("long: %v", err)
	}
	_, err := get(t.Context(), adapters.Call{Path: "/nowhere", Method: http.MethodGet})
	if e := (*llm.Error)(nil); !errors.As(err, &e) || e.Code != "upstream_not_found" {
		t.Errorf("nowhere: %v", err)
	}
}
