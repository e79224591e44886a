package stream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// calls speaks gRPC with messages that are JSON for the eye.
var calls = fake{traits: adapters.Traits{Framing: frame.GRPC}}

// grpcServer is a backend that speaks HTTP/2, without TLS.
func grpcServer(h http.HandlerFunc) *httptest.Server {
	server := httptest.NewUnstartedServer(h)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	return server
}

func serveGRPC(t *testing.T, h http.HandlerFunc) *Upstream {
	t.Helper()
	server := grpcServer(h)
	server.Start()
	t.Cleanup(server.Close)
	return upstreamGRPC(t, ClientOptions{URL: server.URL})
}

func upstreamGRPC(t *testing.T, o ClientOptions) *Upstream {
	t.Helper()
	o.HTTP2 = true
	client, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	return &Upstream{URL: o.URL, Client: client}
}

// trusting returns a client for a server with TLS.
func trusting(t *testing.T, server *httptest.Server) *Upstream {
	t.Helper()
	up := upstreamGRPC(t, ClientOptions{URL: server.URL})
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	up.Client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: roots}
	return up
}

// grpcFrames are messages of gRPC.
func grpcFrames(texts ...string) string {
	var b []byte
	for _, text := range texts {
		b = frame.AppendGRPC(b, []byte(text))
	}
	return string(b)
}

// tell writes an answer without its end.
func tell(w http.ResponseWriter, texts ...string) {
	io.WriteString(w, grpcFrames(texts...))
	w.(http.Flusher).Flush()
}

// end ends an answer, by trailers if something was said before.
func end(w http.ResponseWriter, status, message string) {
	for name, value := range map[string]string{"Grpc-Status": status, "Grpc-Message": message} {
		if value != "" {
			w.Header().Set(http.TrailerPrefix+name, value)
		}
	}
}

func TestGRPC(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // until the client has closed its side
		got := []string{r.Method, r.URL.Path, r.Proto, r.Header.Get("Content-Type"), r.Header.Get("Te"), string(body)}
		want := []string{"POST", "/test.Service/Stream", "HTTP/2.0", "application/grpc", "trailers", grpcFrames("hi")}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) || err != nil {
			t.Errorf("sent %q, %v, want %q", got, err, want)
		}
		tell(w, `{"t":"Hel"}`)
		tell(w, `{"t":"lo"}`, `{"f":"length","p":7,"c":2}`)
		end(w, "0", "")
	})
	f := func(up *Upstream) {
		t.Helper()
		for _, streamed := range []bool{true, false} { // the same call
			s, err := Open(t.Context(), up, calls, &llm.Request{Stream: streamed, Prompt: prompt("hi")})
			if err != nil {
				t.Fatal(err)
			}
			answer, err := Collect(s, 1<<20)
			if err != nil || string(answer.Choices[0].Text) != "Hello" || answer.Choices[0].Finish != llm.FinishLength || answer.Usage.Completion != 2 {
				t.Errorf("got %+v, %v", answer, err)
			}
			s.Close()
		}
	}
	f(serveGRPC(t, handler))

	secure := httptest.NewUnstartedServer(handler)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	f(trusting(t, secure))

	socket := grpcServer(handler)
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	socket.Listener.Close()
	socket.Listener = listener
	socket.Start()
	t.Cleanup(socket.Close)
	f(upstreamGRPC(t, ClientOptions{URL: "unix:" + path}))
}

// What trailers say is an error in OpenAI's form, before the first event and in
// the middle, with a body and without.
func TestGRPCStatus(t *testing.T) {
	f := func(code, message string, status int, typ, errCode, text string) {
		t.Helper()
		for _, texts := range [][]string{nil, {`{"t":"To be"}`}} {
			up := serveGRPC(t, func(w http.ResponseWriter, _ *http.Request) {
				if len(texts) > 0 {
					tell(w, texts...)
				}
				end(w, code, message)
			})
			up.Secrets = []string{"KEY123"}
			_, err := ask(t.Context(), up, calls, &llm.Request{})
			var e *llm.Error
			if !errors.As(err, &e) || e.Status != status || e.Type != typ || e.Code != errCode || e.Message != text {
				t.Errorf("%s %q after %q: got %+v, want %d %s %s %q", code, message, texts, err, status, typ, errCode, text)
			}
		}
	}
	const own, theirs = "invalid_request_error", "server_error"
	f("3", "unexpected input", 400, own, "", "unexpected input")
	f("3", "the prompt is longer than the model's context length", 400, own, "context_length_exceeded", "the prompt is longer than the model's context length")
	f("5", "no model 'x'", 502, theirs, "upstream_not_found", "The backend answered with gRPC status NOT_FOUND: no model 'x'")
	f("12", "", 502, theirs, "upstream_not_found", "The backend answered with gRPC status UNIMPLEMENTED.")
	f("8", "slow%20down", 429, theirs, "upstream_error", "The backend answered with gRPC status RESOURCE_EXHAUSTED: slow down")
	f("14", "%E6%9D%AD%0a100% busy%", 503, theirs, "upstream_error", "The backend answered with gRPC status UNAVAILABLE: 杭 100% busy%")
	f("4", "late", 504, theirs, "upstream_error", "The backend answered with gRPC status DEADLINE_EXCEEDED: late")
	f("16", "bad key KEY123", 502, theirs, "upstream_auth", "The backend refused the gateway's credentials.")
	f("7", "", 502, theirs, "upstream_auth", "The backend refused the gateway's credentials.")
	f("1", "", 502, theirs, "upstream_error", "The backend answered with gRPC status CANCELLED.")
	f("13", "see KEY1%323", 502, theirs, "upstream_error", "The backend answered with gRPC status INTERNAL: see ***")
	f("17", "x", 502, theirs, "upstream_error", `The backend answered with gRPC status "17": x`)
	f("-1", "", 502, theirs, "upstream_error", `The backend answered with gRPC status "-1".`)
	f("zero, all is well", "", 502, theirs, "upstream_error", `The backend answered with gRPC status "zero, al".`)
}

// Anything that is no whole answer with a status is a broken one.
func TestGRPCBrokenOff(t *testing.T) {
	f := func(name, want string, h http.HandlerFunc) {
		t.Helper()
		up := serveGRPC(t, func(w http.ResponseWriter, r *http.Request) {
			tell(w, `{"t":"To be"}`)
			h(w, r)
		})
		s, err := Open(t.Context(), up, calls, &llm.Request{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if ev := next(t, s); string(ev[0].Text) != "To be" {
			t.Errorf("%s: got %q", name, ev[0].Text)
		}
		_, err = s.Next(nil)
		wantStatus(t, err, http.StatusBadGateway)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	f("no trailers", errNoStatus.Error(), func(http.ResponseWriter, *http.Request) {})
	f("a message without a status", errNoStatus.Error(), func(w http.ResponseWriter, _ *http.Request) { end(w, "", "x") })
	f("reset", "broke off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	f("half a message", "broke off", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, grpcFrames(`{"t":"or not"}`)[:9])
		end(w, "0", "")
	})
	f("compressed", "does not speak gRPC", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "\x01"+grpcFrames(`{"t":"or not"}`)[1:])
		end(w, "0", "")
	})
	f("a huge length", "too much at once", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "\x00\xff\xff\xff\xff")
		end(w, "0", "")
	})
	f("no reason", "without saying why", func(w http.ResponseWriter, _ *http.Request) { end(w, "0", "") })
}

// A status that is no success of HTTP's is one as for any other backend.
func TestGRPCBehindHTTP(t *testing.T) {
	up := serveGRPC(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no such place", http.StatusServiceUnavailable)
	})
	if e := openError(t, up, calls); e.Status != 503 || e.Message != "The backend answered with status 503: no such place" {
		t.Errorf("got %+v", e)
	}
	page := serveGRPC(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>no such page</html>") })
	if e := openError(t, page, calls); e.Status != 502 || !strings.Contains(e.Message, "does not speak gRPC") {
		t.Errorf("got %+v", e)
	}
	old := serve(t, func(http.ResponseWriter, *http.Request) {}) // these two speak HTTP/1.1 alone
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(secure.Close)
	for _, up := range []*Upstream{upstreamGRPC(t, ClientOptions{URL: old.URL}), trusting(t, secure)} {
		if e := openError(t, up, calls); e.Status != 502 {
			t.Errorf("got %+v", e)
		}
	}
}

// One call that is cancelled, or takes too long, ends for the backend at once,
// and takes no other call on the connection with it.
func TestGRPCCancel(t *testing.T) {
	var connections atomic.Int32
	here, left := make(chan struct{}), make(chan struct{})
	server := grpcServer(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		tell(w, `{"t":"a"}`)
		if strings.Contains(string(body), "short") {
			<-here
			tell(w, `{"t":"b","f":"stop"}`)
			end(w, "0", "")
			return
		}
		<-r.Context().Done()
		left <- struct{}{}
	})
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	up := upstreamGRPC(t, ClientOptions{URL: server.URL})
	short, err := Open(t.Context(), up, calls, &llm.Request{Prompt: prompt("short")})
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	next(t, short)

	ctx, cancel := context.WithCancel(t.Context())
	long, err := Open(ctx, up, calls, &llm.Request{Prompt: prompt("long")})
	if err != nil {
		t.Fatal(err)
	}
	next(t, long)
	cancel()
	<-left
	if _, err := long.Next(nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	long.Close()

	closed, err := Open(t.Context(), up, calls, &llm.Request{Prompt: prompt("long")})
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	<-left

	impatient := *up
	impatient.Idle = 10 * time.Millisecond
	_, err = ask(t.Context(), &impatient, calls, &llm.Request{Prompt: prompt("long")})
	wantStatus(t, err, http.StatusGatewayTimeout)
	<-left

	close(here)
	if ev := next(t, short); string(ev[0].Text) != "b" {
		t.Errorf("got %q", ev[0].Text)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// A client that leaves before the headers is told of too.
func TestGRPCCancelBeforeHeaders(t *testing.T) {
	here, left := make(chan struct{}), make(chan struct{})
	up := serveGRPC(t, func(_ http.ResponseWriter, r *http.Request) {
		close(here)
		<-r.Context().Done()
		close(left)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-here; cancel() }()
	if _, err := ask(ctx, up, calls, &llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-left
}

func TestGRPCThroughProxies(t *testing.T) {
	f := func(proxy, url string, refused bool) {
		t.Helper()
		if _, err := NewClient(ClientOptions{Proxy: proxy, URL: url, HTTP2: true}); errors.Is(err, errPlainProxy) != refused {
			t.Errorf("%s through %s: %v", url, proxy, err)
		}
	}
	f("http://p:3128", "http://10.0.0.5:8001", true)
	f("http://p:3128", "http://127.0.0.1:8001", false)
	f("http://p:3128", "https://10.0.0.5:8001", false)
	f("socks5://p:1080", "http://10.0.0.5:8001", false)
	f("none", "http://10.0.0.5:8001", false)
	f("http://p:3128", "unix:/run/s", false)
}
