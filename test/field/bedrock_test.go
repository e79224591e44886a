package field

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"dragoman/gateway/sigv4/sigv4test"
	"dragoman/test/harness"
)

// bedrock starts a Bedrock that answers calls signed with the credentials that
// current returns, and refuses others as verbosely as AWS does. paths gets the
// paths of the calls.
func bedrock(t *testing.T, current func() aws.Credentials) (url string, paths chan string) {
	t.Helper()
	answer, err := os.ReadFile("../../adapters/bedrock/testdata/plain.stream")
	if err != nil {
		t.Fatal(err)
	}
	paths = make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths <- r.RequestURI
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := sigv4test.Verify(r, body, current(), "bedrock", "eu-west-1", time.Now()); err != nil {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"message":"The request signature we calculated does not match. The Canonical String should have been 'x-amz-security-token:%s' for %s"}`,
				r.Header.Get("X-Amz-Security-Token"), strings.ReplaceAll(r.Header.Get("Authorization"), `"`, ""))
			return
		}
		w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		_, _ = w.Write(answer)
	}))
	t.Cleanup(s.Close)
	return s.URL, paths
}

// fixed is c as it stands below aws:.
func fixed(c aws.Credentials) string {
	return fmt.Sprintf(`{region: eu-west-1, access_key_id: %q, secret_access_key: %q, session_token: %q}`, c.AccessKeyID, c.SecretAccessKey, c.SessionToken)
}

// unseen fails the test if something of c is in text.
func unseen(t *testing.T, c aws.Credentials, text string) {
	t.Helper()
	for _, s := range []string{c.AccessKeyID, c.SecretAccessKey, c.SessionToken} {
		if strings.Contains(text, s) {
			t.Errorf("%q is in %s", s, text)
		}
	}
	if signature := regexp.MustCompile(`Signature=[0-9a-f]+`).FindString(text); signature != "" {
		t.Errorf("a signature is in %s", text)
	}
}

// Every kind of name that Bedrock has for a model arrives with a signature that
// holds, streamed or not, from many clients at once.
func TestBedrockIsSigned(t *testing.T) {
	sigv4test.Bare(t)
	c := sigv4test.Credentials(1)
	url, paths := bedrock(t, func() aws.Credentials { return c })
	base := harness.Gateway(t, `models: {"*": {adapter: bedrock, url: "`+url+`", aws: `+fixed(c)+`}}`)
	for model, path := range map[string]string{
		"amazon.nova-lite-v1:0":                           "/model/amazon.nova-lite-v1%3A0/converse-stream",
		"eu.anthropic.claude-sonnet-4-20250514-v1:0":      "/model/eu.anthropic.claude-sonnet-4-20250514-v1%3A0/converse-stream",
		"arn:aws:bedrock:eu-west-1:1:inference-profile/x": "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Fx/converse-stream",
		"an odd/näme+&?#%2F":                              "/model/an%20odd%2Fn%C3%A4me+&%3F%23%252F/converse-stream",
	} {
		say(t, base, model, `,"stream":true`).Check(t, false).Want(t, "R C F=stop D", "Hello")
		if got := say(t, base, model, "").Content(t); got != "Hello" {
			t.Errorf("%s: got %q", model, got)
		}
		for range 2 {
			if got := <-paths; got != path {
				t.Errorf("got %s, want %s", got, path)
			}
		}
	}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 5 {
				if a := say(t, base, fmt.Sprintf("model-%d", i), `,"stream":true`); a.Status != http.StatusOK {
					t.Errorf("%d %s", a.Status, a.Body)
				}
			}
		})
	}
	wait.Wait()
}

// Credentials of a role are asked for with the first call, and change.
func TestBedrockRole(t *testing.T) {
	sigv4test.Bare(t)
	t.Setenv("AWS_REGION", "eu-west-1")
	var asked atomic.Int32
	sigv4test.Container(t, func() (*aws.Credentials, time.Duration) {
		c := sigv4test.Credentials(int(asked.Add(1)))
		return &c, time.Minute // which is too short to be kept
	})
	url, _ := bedrock(t, func() aws.Credentials { return sigv4test.Credentials(int(asked.Load())) })
	base := harness.Gateway(t, `models: {m: {adapter: bedrock, url: "`+url+`"}}`)
	if asked.Load() != 0 {
		t.Error("credentials were asked for before the first call")
	}
	for n := range 3 {
		if got := harness.Chat(t, base, "").Content(t); got != "Hello" || int(asked.Load()) != n+1 {
			t.Errorf("got %q, asked %d times", got, asked.Load())
		}
	}
}

// BC-084: a signature that is refused, with all that AWS says about it, is told
// neither to clients nor to the log.
func TestBC084RefusedSignature(t *testing.T) {
	sigv4test.Bare(t)
	wrong := sigv4test.Credentials(2)
	url, _ := bedrock(t, func() aws.Credentials { return sigv4test.Credentials(1) })
	base, log := harness.GatewayWithLog(t, `models: {m: {adapter: bedrock, url: "`+url+`", aws: `+fixed(wrong)+`}}`)
	a := harness.Chat(t, base, `"stream":true`)
	a.Want(t, 502, "upstream_auth", "")
	log.Wait(t, "signature we calculated does not match")
	if !strings.Contains(log.All(), "Signature=***") {
		t.Errorf("the cause is cut short: %s", log.All())
	}
	unseen(t, wrong, string(a.Body)+log.All())
}

// Without credentials clients learn that it is not their fault, the log why; a
// backend that has some is asked instead.
func TestBedrockWithoutCredentials(t *testing.T) {
	sigv4test.Bare(t)
	t.Setenv("AWS_REGION", "eu-west-1")
	sigv4test.Container(t, func() (*aws.Credentials, time.Duration) { return nil, 0 })
	c := sigv4test.Credentials(1)
	url, paths := bedrock(t, func() aws.Credentials { return c })
	base, log := harness.GatewayWithLog(t, `
models:
  m: {adapter: bedrock, url: "`+url+`"}
  several:
    backends:
      - {adapter: bedrock, url: "`+url+`"}
      - {adapter: bedrock, url: "`+url+`", weight: 0, aws: `+fixed(c)+`}
`)
	a := harness.Chat(t, base, "")
	a.Want(t, 502, "upstream_auth", "")
	if e := a.Error(t); e.Message != "The gateway has no credentials for the backend." {
		t.Errorf("got %q", e.Message)
	}
	log.Wait(t, "no credentials today")
	if len(paths) != 0 {
		t.Error("Bedrock was called")
	}
	if got := say(t, base, "several", "").Content(t); got != "Hello" {
		t.Errorf("got %q", got)
	}
	log.Wait(t, "no credentials today")
	if strings.Contains(log.All(), "secret-path") {
		t.Errorf("the path of the credentials is in %s", log.All())
	}
}

// A bearer key goes on working, the environment's too.
func TestBedrockKey(t *testing.T) {
	sigv4test.Bare(t)
	t.Setenv("AWS_BEARER_TOKEN_BEDROCK", "key-of-the-environment")
	got := make(chan http.Header, 2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		http.Error(w, `{"message":"no"}`, http.StatusBadRequest)
	}))
	defer s.Close()
	base := harness.Gateway(t, `
models:
  m: {adapter: bedrock, url: "`+s.URL+`"}
  own: {adapter: bedrock, url: "`+s.URL+`", key: own-key}
`)
	for model, want := range map[string]string{"m": "Bearer key-of-the-environment", "own": "Bearer own-key"} {
		say(t, base, model, "")
		if h := <-got; h.Get("Authorization") != want || h.Get("X-Amz-Date") != "" {
			t.Errorf("%s: got %v", model, h)
		}
	}
}
