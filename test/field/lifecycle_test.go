package field

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"dragoman/test/harness"
)

// post sends a chat request whose body the caller reads and closes.
func post(ctx context.Context, t *testing.T, base, extra string) (*http.Response, error) {
	t.Helper()
	body := `{"model":"m","messages":[{"role":"user","content":"Q:"}]` + extra + `}`
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return http.DefaultClient.Do(req)
}

func wantGone(t *testing.T, r harness.Received) {
	t.Helper()
	select {
	case <-r.Gone:
	case <-time.After(5 * time.Second):
		t.Error("the client has gone and the backend still works for it")
	}
}

// BC-067: a client that left before the first byte was not noticed.
func TestBC067GoneBeforeTheFirstByte(t *testing.T) {
	backend := harness.Script(t, "⏸"+native("a"))
	base := harness.Gateway(t, harness.Case{Adapter: "native"}.Config(backend.URL))
	for _, extra := range []string{`,"stream":true`, ``} {
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			if res, err := post(ctx, t, base, extra); err == nil {
				res.Body.Close()
			}
		}()
		r := backend.Request() // the backend has it and is silent
		cancel()
		<-over
		wantGone(t, r)
	}
}

// BC-067, a client that waits for a slot leaves the queue.
func TestBC067GoneWhileQueued(t *testing.T) {
	backend := harness.Script(t, native("a")+"⏸"+nativeEnd("stop"))
	base, log := harness.GatewayWithLog(t, harness.Case{Adapter: "native", Options: "max_concurrent: 1"}.Config(backend.URL))
	first, err := post(t.Context(), t, base, `,"stream":true`)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Body.Close()
	backend.Request()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if res, err := post(ctx, t, base, ""); err == nil {
		t.Fatalf("the second request is answered: %d", res.StatusCode)
	}
	log.Wait(t, "status=499")
	backend.Continue(2)
	io.Copy(io.Discard, first.Body)
	if got := harness.Chat(t, base, "").Content(t); got != "a" {
		t.Errorf("got %q", got)
	}
	if backend.Request(); backend.Requests() != 0 {
		t.Error("the request of the client that left reached the backend")
	}
}

// BC-068: producers blocked for ever once their client had gone.
func TestBC068GoneClientsLeaveNothing(t *testing.T) {
	backend := harness.Script(t, native("a")+"⏸"+nativeEnd("stop"))
	base := harness.Gateway(t, harness.Case{Adapter: "native"}.Config(backend.URL)) // checks for goroutines that stay
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			res, err := post(t.Context(), t, base, `,"stream":true`)
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Read(make([]byte, 1))
			res.Body.Close()
		})
	}
	wait.Wait()
	for range 100 {
		wantGone(t, backend.Request())
	}
}

// BC-070: one user's text came out in another's answer.
func TestBC070NoMixing(t *testing.T) {
	backend := harness.NewBackend(t, func(r harness.Received) harness.Reply {
		at := strings.Index(r.Body, "KEY")
		key := r.Body[at : at+6]
		return harness.Reply{Body: native(strings.Split(strings.Repeat(key+"|", 20), "|")[:20]...) + nativeEnd("stop")}
	})
	backend.Deliver(harness.AtRandom)
	base := harness.Gateway(t, harness.Case{Adapter: "native"}.Config(backend.URL))
	var wait sync.WaitGroup
	for i := range 32 {
		wait.Go(func() {
			key := fmt.Sprintf("KEY%03d", i)
			for _, stream := range []string{"true", "false"} {
				body := fmt.Sprintf(`{"model":"m","stream":%s,"messages":[{"role":"user","content":%q}]}`, stream, key)
				answer := harness.Do(t, "POST", base+"/v1/chat/completions", body)
				text := ""
				if stream == "true" {
					text = answer.Check(t, false).Text[0]
				} else {
					text = answer.Content(t)
				}
				if text != strings.Repeat(key, 20) {
					t.Errorf("%s got %q", key, text)
				}
			}
		})
	}
	wait.Wait()
}

// BC-071: frames were kept in buffers until many had come.
func TestBC071EachFrameAtOnce(t *testing.T) {
	script := ""
	for i := range 20 {
		script += "⏸" + native(fmt.Sprint(i, " "))
	}
	backend := harness.Script(t, script+"⏸"+nativeEnd("stop"))
	base := harness.Gateway(t, harness.Case{Adapter: "native"}.Config(backend.URL))
	backend.Continue(1)
	res, err := post(t.Context(), t, base, `,"stream":true`)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	h := res.Header
	if h.Get("X-Accel-Buffering") != "no" || h.Get("Cache-Control") != "no-cache" || h.Get("Content-Length") != "" || h.Get("Content-Encoding") != "" {
		t.Errorf("headers %v", h)
	}
	seen, buf := "", make([]byte, 64<<10)
	for i := range 20 { // the backend sends frame i+1 only after frame i was read here
		for want := fmt.Sprintf(`"content":"%d "`, i); !strings.Contains(seen, want); {
			n, err := res.Body.Read(buf)
			seen += string(buf[:n])
			if err != nil {
				t.Fatalf("%v after %s", err, seen)
			}
		}
		backend.Continue(1)
	}
	rest, err := io.ReadAll(res.Body)
	if err != nil || !strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
		t.Errorf("the end: %v %s", err, rest)
	}
}

// BC-075: an idle connection that the backend had just closed gave a 502.
func TestBC075IdleConnectionClosed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, strings.NewReplacer("⏎", "\n", "¦", "").Replace(native("a")+nativeEnd("stop")))
	})}
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateIdle {
			conn.Close() // as soon as an answer is over, without a word
		}
	}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	base := harness.Gateway(t, harness.Case{Adapter: "native"}.Config("http://"+listener.Addr().String()))
	for i := range 100 {
		if answer := harness.Chat(t, base, ""); answer.Status != 200 {
			t.Fatalf("request %d: %d %s", i, answer.Status, answer.Body)
		}
	}
}
