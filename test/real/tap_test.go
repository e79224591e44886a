//go:build real

package real

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// tap stands between the gateway and a server and keeps the last exchange on
// each path.
type tap struct {
	*httptest.Server
	mu   sync.Mutex
	last map[string]*exchange
}

// exchange is one call, as far as it came.
type exchange struct {
	status        int
	sent, answer  bytes.Buffer
	reachedTheEnd bool
	closed        bool
}

func newTap(t *testing.T, server string) *tap {
	t.Helper()
	target, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	tp := &tap{last: map[string]*exchange{}}
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target); repeatable(r.Out) },
		FlushInterval:  -1,
		ModifyResponse: tp.listen,
		ErrorHandler:   func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	tp.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := &exchange{}
		body, _ := io.ReadAll(r.Body)
		e.sent.Write(body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		tp.mu.Lock()
		tp.last[r.URL.Path] = e
		tp.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		tp.Server.CloseClientConnections()
		tp.Server.Close()
	})
	return tp
}

// repeatable lets the request be sent again where a kept connection turns out to
// be closed, as the gateway has it for its own.
func repeatable(r *http.Request) {
	if r.Body == nil {
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	r.Header["Idempotency-Key"] = nil
}

func (tp *tap) listen(res *http.Response) error {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	e := tp.last[res.Request.URL.Path]
	e.status = res.StatusCode
	res.Body = &listener{res.Body, tp, e}
	return nil
}

type listener struct {
	io.ReadCloser
	tap *tap
	e   *exchange
}

// Read implements io.Reader.
func (l *listener) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	l.tap.mu.Lock()
	defer l.tap.mu.Unlock()
	l.e.answer.Write(p[:n])
	l.e.reachedTheEnd = err == io.EOF
	return n, err
}

// Close implements io.Closer.
func (l *listener) Close() error {
	l.tap.mu.Lock()
	defer l.tap.mu.Unlock()
	l.e.closed = true
	return l.ReadCloser.Close()
}

// closed reports whether the last call of path is over, in whatever way.
func (tp *tap) closed(path string) bool {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	e := tp.last[path]
	return e != nil && e.closed
}

// sent returns the body of the last call of path.
func (tp *tap) sent(path string) string {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	if e := tp.last[path]; e != nil {
		return e.sent.String()
	}
	return ""
}

// answer returns the server's last bytes on path, and whether they ended as an
// answer with status 200 should.
func (tp *tap) answer(path string) ([]byte, bool) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	if e := tp.last[path]; e != nil {
		data := bytes.Clone(e.answer.Bytes())
		return data, e.status == http.StatusOK && (e.reachedTheEnd || bytes.HasSuffix(data, []byte("data: [DONE]\n\n")))
	}
	return nil, false
}
