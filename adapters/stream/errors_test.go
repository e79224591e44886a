package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

func itoa(n int) string { return strconv.Itoa(n) }

// openError returns what Open makes of an answer that is no success.
func openError(t *testing.T, up *Upstream, a adapters.Adapter) *llm.Error {
	t.Helper()
	s, err := Open(context.Background(), up, a, &llm.Request{})
	if err == nil {
		s.Close()
		t.Fatal("no error")
	}
	e := (*llm.Error)(nil)
	if !errors.As(err, &e) {
		t.Fatalf("not an *llm.Error: %v", err)
	}
	return e
}

// failing returns a backend that answers with one status and body.
func failing(status int, header http.Header, body string) *Upstream {
	up := answering(nil)
	up.Client.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
	})
	return up
}

func TestStatuses(t *testing.T) {
	f := func(status, wantStatus int, wantType, wantCode string) {
		t.Helper()
		e := openError(t, failing(status, http.Header{"Retry-After": {"7"}}, `{"error":{"message":"so it is","param":"x"}}`), deltas)
		if e.Status != wantStatus || e.Type != wantType || e.Code != wantCode {
			t.Errorf("%d: got %d %s %s", status, e.Status, e.Type, e.Code)
		}
		if kept := wantStatus == 429 || wantStatus == 503; kept != (e.RetryAfter == "7") {
			t.Errorf("%d: Retry-After %q", status, e.RetryAfter)
		}
		if auth := wantCode == "upstream_auth"; auth == strings.Contains(e.Message, "so it is") {
			t.Errorf("%d: message %q", status, e.Message)
		}
		if !strings.Contains(e.Err.Error(), "status "+itoa(status)) {
			t.Errorf("%d: the log's cause is %v", status, e.Err)
		}
	}
	for _, status := range []int{400, 413, 422} {
		f(status, 400, "invalid_request_error", "")
	}
	f(401, 502, "server_error", "upstream_auth")
	f(403, 502, "server_error", "upstream_auth")
	f(404, 502, "server_error", "upstream_not_found")
	f(429, 429, "server_error", "upstream_error")
	f(503, 503, "server_error", "upstream_error")
	f(529, 503, "server_error", "upstream_error")
	f(408, 504, "server_error", "upstream_error")
	f(504, 504, "server_error", "upstream_error")
	for _, status := range []int{302, 402, 405, 417, 424, 500, 502} {
		f(status, 502, "server_error", "upstream_error")
	}
}

func TestMessages(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if got := openError(t, failing(400, nil, body), deltas).Message; got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
	f(`{"error":{"message":"a","type":"b"}}`, "a")
	f(`{"error":"a"}`, "a")
	f(`{"object":"error","message":"a"}`, "a")
	f(`{"detail":"a"}`, "a")
	f(`{"detail":[{"loc":["body","n"],"msg":"a"},{"msg":"b"}]}`, "a; b")
	f(`{"detail":{"msg":"a","type":"service_unavailable"}}`, "a")
	f("data: {\"error\":\"a\"}\n\n", "a")
	f(`[{"error":{"message":"a"}}]`, "a")
	f(`"a"`, "a")
	f("a plain\n  text\x00\x1b[1m\u2028x", `a plain   text\x00\x1b[1m\u2028x`)
	f("<!doctype html><html><head><title>500 Error</title><style>p{}</style></head><body><h1>Oh</h1><p>a &amp; b<script>x()</script></body></html>", "500 Error Oh a & b")
	f("", "The backend answered with status 400.")
	f(`{}`, "The backend answered with status 400.")
	f(strings.Repeat("é", 1000), strings.Repeat("é", 500)+"...")
	f(strings.Repeat("[", 100_000), strings.Repeat("[", 500)+"...")
	if got := openError(t, failing(503, nil, "<html><body>busy</body></html>"), deltas); got.Message != "The backend answered with status 503: busy" { // BC-021
		t.Errorf("got %q", got.Message)
	}
}

// BC-065: a prompt that is too long has a code of its own, by which clients
// know to shorten it.
func TestContextLength(t *testing.T) {
	const tooLong = "context_length_exceeded"
	f := func(status int, body, wantCode string) {
		t.Helper()
		e := openError(t, failing(status, nil, body), deltas)
		if e.Code != wantCode || wantCode == tooLong && e.Status != 400 {
			t.Errorf("%q: got %d %q", body, e.Status, e.Code)
		}
	}
	f(400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4}}`, tooLong)
	f(500, `{"error":{"code":500,"message":"too many","type":"exceed_context_size_error"}}`, tooLong)
	f(400, `{"object":"error","message":"This model's maximum context length is 2048 tokens."}`, tooLong)
	f(400, `{"error":{"message":"x","code":"context_length_exceeded"}}`, tooLong)
	f(400, `{"error":{"message":"x","code":"bad_thing"}}`, "bad_thing")
	f(400, `{"error":{"message":"x","code":"<script>`+strings.Repeat("x", 200)+`"}}`, "")
	f(500, "the maximum context length of me", "upstream_error")
}

// BC-084: neither keys nor addresses are told, whoever says them.
func TestSecrets(t *testing.T) {
	f := func(status int, body string) {
		t.Helper()
		up := failing(status, http.Header{"X-Key": {"KEY123"}, "Retry-After": {"KEY123"}}, body)
		up.URL = "http://user:pass99@10.0.0.5:21002/v1?key=QUERY7"
		up.Header = http.Header{"Authorization": {"Bearer KEY123"}}
		up.Secrets = []string{"s/cret", "KEY123-longer"}
		e := openError(t, up, deltas)
		all := fmt.Sprintf("%v|%+v", e, *e)
		for _, secret := range []string{"KEY123", "longer", "pass99", "10.0.0.5", "21002", "QUERY7", "s/cret", "s%2Fcret"} {
			if strings.Contains(all, secret) {
				t.Errorf("%d %q: %s", status, body, all)
			}
		}
	}
	for _, status := range []int{200, 400, 401, 404, 429, 500, 503} {
		f(status, `{"error":{"message":"no model for key KEY123","code":"KEY123","param":"KEY123"}}`+"\n")
		f(status, "trace: http://10.0.0.5:21002/v1/x?key=QUERY7&s=s%2Fcret user pass99 KEY123-longer s/cret at 10.0.0.5\n")
		f(status, `{"error":"key KEY123 is over quota"}`+"\n")
	}
}

// A key that a shortened quotation cuts in two is cut out all the same, and
// what a backend says about credentials goes to the log alone.
func TestPartsOfSecrets(t *testing.T) {
	up := &Upstream{Secrets: []string{"KEY123456"}}
	if got := up.clean("not understood: KEY12..."); got != "not understood: ***..." {
		t.Errorf("got %q", got)
	}
	e := openError(t, failing(401, nil, "wrong key: KEY1**56"), deltas)
	if strings.Contains(e.Message, "KEY") || !strings.Contains(e.Err.Error(), "wrong key") {
		t.Errorf("got %q, cause %v", e.Message, e.Err)
	}
}

func TestTransportErrors(t *testing.T) {
	f := func(err error, wantStatus int, want string) {
		t.Helper()
		up := answering(nil)
		up.URL = "http://10.0.0.5:1?key=KEY123"
		up.Client.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, err })
		e := openError(t, up, deltas)
		if e.Status != wantStatus || e.Message != want || strings.Contains(e.Error(), "KEY123") {
			t.Errorf("%v: got %d %q", err, e.Status, e.Error())
		}
	}
	f(errReset, 502, "The connection to the backend failed.")
	f(io.EOF, 502, "The connection to the backend failed.")
	f(&net.DNSError{Err: "no such host", Name: "gpu1"}, 502, "The backend's host name cannot be resolved.")
	f(&net.DNSError{Err: "timeout", IsTimeout: true}, 504, "The backend took too long to answer.")
}

func TestConnectionRefused(t *testing.T) {
	const address = "127.0.0.1:1" // nobody listens there
	e := openError(t, upstream(t, "http://"+address), deltas)
	if e.Status != 502 || e.Message != "The backend refused the connection." || !strings.Contains(e.Err.Error(), address) {
		t.Errorf("got %d %q", e.Status, e.Error())
	}
}

func TestCompressedAnswer(t *testing.T) {
	e := openError(t, failing(200, http.Header{"Content-Encoding": {"gzip"}}, "\x1f\x8b"), deltas)
	if !strings.Contains(e.Message, "compressed") {
		t.Errorf("got %q", e.Message)
	}
}

// A redirect is not followed: the keys are for this backend alone.
func TestRedirect(t *testing.T) {
	up := failing(307, http.Header{"Location": {"http://elsewhere.test/"}}, "")
	if e := openError(t, up, deltas); e.Status != 502 || e.Message != "The backend answered with status 307." {
		t.Errorf("got %d %q", e.Status, e.Message)
	}
}

func TestAdapterRefuses(t *testing.T) {
	want := llm.Invalid("n", "unsupported_parameter", "no")
	if e := openError(t, answering(nil), refusing{deltas, want}); e != want {
		t.Errorf("got %v", e)
	}
}

type refusing struct {
	fake
	err error
}

func (a refusing) Request(*llm.Request) (adapters.Call, error) { return adapters.Call{}, a.err }

// A connection that could not be made, or broke before the answer began, can be
// told from an answer that is no good.
func TestUnreachable(t *testing.T) {
	f := func(up *Upstream, want bool) {
		t.Helper()
		if e := openError(t, up, deltas); errors.Is(e, ErrUnreachable) != want {
			t.Errorf("want %v: %v, of %T", want, e, e.Err)
		}
	}
	breaks := func(err error) *Upstream {
		up := answering(nil)
		up.Client.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return nil, err })
		return up
	}
	f(breaks(io.EOF), true)
	f(breaks(&net.OpError{Op: "dial", Err: errors.New("refused")}), true)
	f(breaks(&net.OpError{Op: "dial", Err: context.DeadlineExceeded}), true)
	f(breaks(&net.DNSError{Err: "no such host", Name: "h"}), true)
	f(breaks(&net.OpError{Op: "read", Err: context.DeadlineExceeded}), false)
	f(failing(503, nil, "busy"), false)
	f(failing(200, nil, "no frame"), false)
}

// Another server's errors tell neither its own address nor that of the first.
func TestAt(t *testing.T) {
	up := failing(400, nil, "http://10.0.0.5:21001 told of 10.0.0.6:21002, key KEY123")
	up.URL, up.Secrets = "http://10.0.0.5:21001", []string{"KEY123"}
	if got := openError(t, up.At("http://10.0.0.6:21002"), deltas).Message; got != "*** told of ***, key ***" {
		t.Errorf("got %q", got)
	}
	if up.URL != "http://10.0.0.5:21001" || len(up.Secrets) != 1 {
		t.Errorf("up is %+v now", up)
	}
}
