package sigv4

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"dragoman/gateway/sigv4/sigv4test"
)

// The cases of the SigV4 test suite that AWS published.
func TestPublishedVectors(t *testing.T) {
	sigv4test.Bare(t)
	f := func(method, target, header, value, body, want string) {
		t.Helper()
		s := New(Options{
			Service: "service", Region: "us-east-1",
			AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
		})
		s.now = func() time.Time { return time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC) }
		req, err := http.NewRequest(method, "https://example.amazonaws.com"+target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			req.Header.Set(header, value)
		}
		secrets, err := s.Sign(req, []byte(body))
		got := req.Header.Get("Authorization")
		if err != nil || !strings.HasSuffix(got, "Signature="+want) {
			t.Errorf("%s %s: got %s, %v", method, target, got, err)
		}
		if !slices.Contains(secrets, want) || !slices.Contains(secrets, "AKIDEXAMPLE") {
			t.Errorf("%s %s: secrets %q", method, target, secrets)
		}
	}
	f("GET", "/", "", "", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31")
	f("POST", "/", "", "", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")
	f("GET", "/?Param2=value2&Param1=value1", "", "", "", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500")
	f("POST", "/", "Content-Type", "application/x-www-form-urlencoded", "Param1=value1", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a")
	f("GET", "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "", "", "", "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f")
}

// server checks the signature of every request that arrives, as AWS does.
func server(t *testing.T, region string, c func() aws.Credentials) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = sigv4test.Verify(r, body, c(), "bedrock", region, time.Now())
		}
		if err != nil {
			t.Errorf("%s %s: %v", r.Method, r.RequestURI, err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// call signs a call and makes it.
func call(t *testing.T, s *Signer, method, url, body string, header http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Error(err)
		return
	}
	maps.Copy(req.Header, header)
	if _, err := s.Sign(req, []byte(body)); err != nil {
		t.Error(err)
		return
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return
	}
	resp.Body.Close()
}

func closed(t *testing.T, s *Signer) *Signer {
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// fixed returns a signer with c.
func fixed(t *testing.T, c aws.Credentials) *Signer {
	return closed(t, New(Options{
		Service: "bedrock", Region: "eu-west-1",
		AccessKeyID: c.AccessKeyID, SecretAccessKey: c.SecretAccessKey, SessionToken: c.SessionToken,
	}))
}

// What net/http makes of a request on its way must not break the signature.
func TestSignatureHoldsOnTheWire(t *testing.T) {
	sigv4test.Bare(t)
	c := sigv4test.Credentials(1)
	c.SessionToken = ""
	for _, c := range []aws.Credentials{sigv4test.Credentials(1), c} {
		up, s := server(t, "eu-west-1", func() aws.Credentials { return c }), fixed(t, c)
		for _, path := range []string{
			"", "/", "/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse-stream", "/model/meta.llama3-v1:0/converse-stream",
			"/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A123456789012%3Ainference-profile%2Feu.amazon.nova-v1%3A0/converse-stream",
			"/model/%C3%A9%20%25%2B+&=@$!*'(),;~/x", "/a//b/../c/", "/m?b=2&a=1&a=0", "/m?x=a%20b+c%2F~&y", "/m?a=%E1%88%B4&A=*",
		} {
			call(t, s, "POST", up.URL+path, `{"x":"é"}`, http.Header{
				"Content-Type": {"application/json"}, "Idempotency-Key": nil, "Accept-Encoding": {"identity"}, "X-Other": {"1", "2"},
				"X-Amzn-Bedrock-Trace": {" a   b ", "c"}, "User-Agent": {"test"},
			})
			call(t, s, "GET", up.URL+path, "", nil)
		}
	}
}

// A header that the signature sets is set anew, and nobody's else's values are
// written over: a backend's headers are shared by all calls.
func TestSharedHeaders(t *testing.T) {
	sigv4test.Bare(t)
	c := sigv4test.Credentials(1)
	up, s := server(t, "eu-west-1", func() aws.Credentials { return c }), fixed(t, c)
	shared := http.Header{"Authorization": {"Bearer x"}, "X-Amz-Date": {"yesterday"}, "X-Amz-Security-Token": {"old"}}
	call(t, s, "POST", up.URL, "{}", shared)
	if shared.Get("Authorization") != "Bearer x" || shared.Get("X-Amz-Date") != "yesterday" || shared.Get("X-Amz-Security-Token") != "old" {
		t.Errorf("the shared headers are %v", shared)
	}
}

// received returns a request that can be signed, and verified without a network.
func received(method, address string, header http.Header) *http.Request {
	req := httptest.NewRequest(method, address, nil)
	req.RequestURI = req.URL.RequestURI()
	maps.Copy(req.Header, header)
	return req
}

// The port that the scheme has anyway is in neither the Host nor the signature.
func TestHost(t *testing.T) {
	sigv4test.Bare(t)
	c := sigv4test.Credentials(1)
	f := func(address, host, want string) {
		t.Helper()
		req := received("POST", address, nil)
		req.Host = host
		if _, err := fixed(t, c).Sign(req, nil); err != nil {
			t.Fatal(err)
		}
		if req.Host != want {
			t.Errorf("%s: Host is %q", address, req.Host)
		}
		if err := sigv4test.Verify(req, nil, c, "bedrock", "eu-west-1", time.Now()); err != nil {
			t.Error(err)
		}
	}
	f("https://h.test:443/", "h.test:443", "h.test")
	f("https://h.test:8443/", "h.test:8443", "h.test:8443")
	f("https://h.test/", "other.test", "other.test")
}

// Each call has the time at which it is made, over midnight too.
func TestClock(t *testing.T) {
	sigv4test.Bare(t)
	c := sigv4test.Credentials(1)
	s := fixed(t, c)
	now := time.Date(2026, 12, 31, 23, 59, 59, 0, time.FixedZone("", 3600))
	s.now = func() time.Time { return now }
	for range 3 {
		req := received("POST", "http://h/", nil)
		if _, err := s.Sign(req, nil); err != nil {
			t.Fatal(err)
		}
		if err := sigv4test.Verify(req, nil, c, "bedrock", "eu-west-1", now); err != nil {
			t.Error(err)
		}
		if err := sigv4test.Verify(req, nil, c, "bedrock", "eu-west-1", now.Add(6*time.Minute)); err == nil {
			t.Error("an old signature holds")
		}
		now = now.Add(time.Hour)
	}
}

// What verifies signatures finds what is wrong with one.
func TestVerifyRefuses(t *testing.T) {
	sigv4test.Bare(t)
	c := sigv4test.Credentials(1)
	f := func(what string, change func(*http.Request)) {
		t.Helper()
		req := received("POST", "http://h/model/x?a=1", http.Header{"Content-Type": {"application/json"}})
		if _, err := fixed(t, c).Sign(req, []byte("body")); err != nil {
			t.Fatal(err)
		}
		change(req)
		if err := sigv4test.Verify(req, []byte("body"), c, "bedrock", "eu-west-1", time.Now()); (err == nil) != (what == "") {
			t.Errorf("%s: %v", what, err)
		}
		if what == "" && sigv4test.Verify(req, []byte("another"), c, "bedrock", "eu-west-1", time.Now()) == nil {
			t.Error("another body passes")
		}
	}
	f("", func(*http.Request) {})
	f("path", func(r *http.Request) { r.RequestURI = "/model/y?a=1" })
	f("query", func(r *http.Request) { r.RequestURI = "/model/x?a=2" })
	f("host", func(r *http.Request) { r.Host = "elsewhere" })
	f("method", func(r *http.Request) { r.Method = "GET" })
	f("type", func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
	f("unsigned header", func(r *http.Request) { r.Header.Set("X-Amz-Target", "x") })
	f("token", func(r *http.Request) { r.Header.Del("X-Amz-Security-Token") })
	f("bearer", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") })
}
