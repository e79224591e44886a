package sigv4

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"dragoman/gateway/sigv4/sigv4test"
)

// chain returns a signer that looks for credentials, and a server that wants
// those that c returns.
func chain(t *testing.T, o Options, c func() aws.Credentials) (*Signer, string) {
	t.Helper()
	o.Service = "bedrock"
	region := o.Region
	if region == "" {
		region = "eu-north-1"
	}
	return closed(t, New(o)), server(t, region, c).URL + "/model/m/converse-stream"
}

func first() aws.Credentials { return sigv4test.Credentials(1) }

func TestEnvironment(t *testing.T) {
	sigv4test.Bare(t)
	c := first()
	t.Setenv("AWS_ACCESS_KEY_ID", c.AccessKeyID)
	t.Setenv("AWS_SECRET_ACCESS_KEY", c.SecretAccessKey)
	t.Setenv("AWS_SESSION_TOKEN", c.SessionToken)
	t.Setenv("AWS_REGION", "eu-north-1")
	s, url := chain(t, Options{}, first)
	call(t, s, "POST", url, "{}", nil)
	s, url = chain(t, Options{Region: "us-west-2"}, first)
	call(t, s, "POST", url, "{}", nil)
}

// A profile has its own region and credentials, and goes before the environment.
func TestProfile(t *testing.T) {
	home := sigv4test.Bare(t)
	c := first()
	sigv4test.Write(t, home, ".aws/config", "[default]\nregion = us-east-1\n[profile llm]\nregion = eu-north-1\n")
	sigv4test.Write(t, home, ".aws/credentials", fmt.Sprintf("[default]\naws_access_key_id = x\naws_secret_access_key = y\n"+
		"[llm]\naws_access_key_id = %s\naws_secret_access_key = %s\naws_session_token = %s\n", c.AccessKeyID, c.SecretAccessKey, c.SessionToken))
	t.Setenv("AWS_ACCESS_KEY_ID", "of-the-environment")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "of-the-environment")
	s, url := chain(t, Options{Profile: "llm"}, first)
	call(t, s, "POST", url, "{}", nil)
}

// Web identity, as pods of EKS have it.
func TestWebIdentity(t *testing.T) {
	home := sigv4test.Bare(t)
	var asked atomic.Int32
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("Action") != "AssumeRoleWithWebIdentity" || r.FormValue("WebIdentityToken") != "pod-token" || r.FormValue("RoleArn") != "arn:aws:iam::123456789012:role/llm" {
			t.Errorf("STS was asked %v", r.Form)
		}
		c := sigv4test.Credentials(int(asked.Add(1)))
		lasts := []time.Duration{0, 30 * time.Second, time.Hour}[asked.Load()] // the first ones end too soon to be kept
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
			`<AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration>`+
			`</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
			c.AccessKeyID, c.SecretAccessKey, c.SessionToken, time.Now().Add(lasts).UTC().Format(time.RFC3339))
	}))
	defer sts.Close()
	t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
	t.Setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/llm")
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", sigv4test.Write(t, home, "token", "pod-token"))
	s, url := chain(t, Options{Region: "eu-west-1"}, func() aws.Credentials { return sigv4test.Credentials(int(asked.Load())) })
	for range 4 {
		call(t, s, "POST", url, "{}", nil)
	}
	if asked.Load() != 2 {
		t.Errorf("STS was asked %d times, want 2", asked.Load())
	}
}

// Single sign-on: the token lies where `aws sso login` puts it.
func TestSingleSignOn(t *testing.T) {
	home := sigv4test.Bare(t)
	sso := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Sso_bearer_token") != "sso-token" || r.FormValue("role_name") != "llm" || r.FormValue("account_id") != "123456789012" {
			t.Errorf("SSO was asked %s, %v", r.RequestURI, r.Header)
		}
		c := first()
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":%q,"secretAccessKey":%q,"sessionToken":%q,"expiration":%d}}`,
			c.AccessKeyID, c.SecretAccessKey, c.SessionToken, time.Now().Add(time.Hour).UnixMilli())
	}))
	defer sso.Close()
	t.Setenv("AWS_ENDPOINT_URL_SSO", sso.URL)
	sigv4test.Write(t, home, ".aws/config", "[profile llm]\nregion = eu-north-1\nsso_session = us\nsso_account_id = 123456789012\nsso_role_name = llm\n"+
		"[sso-session us]\nsso_region = eu-north-1\nsso_start_url = https://us.awsapps.com/start\n")
	sigv4test.Write(t, home, fmt.Sprintf(".aws/sso/cache/%x.json", sha1.Sum([]byte("us"))),
		fmt.Sprintf(`{"accessToken":"sso-token","expiresAt":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339)))
	s, url := chain(t, Options{Profile: "llm"}, first)
	call(t, s, "POST", url, "{}", nil)
}

// Credentials of a container are asked for with the first call, kept, and
// asked for again before they end. One failure is no end.
func TestContainer(t *testing.T) {
	sigv4test.Bare(t)
	var asked atomic.Int32
	lasts := []time.Duration{time.Hour, 2 * time.Minute, time.Hour}
	fail := false
	sigv4test.Container(t, func() (*aws.Credentials, time.Duration) {
		if fail {
			return nil, 0
		}
		n := int(asked.Add(1))
		c := sigv4test.Credentials(n)
		return &c, lasts[n%len(lasts)]
	})
	current := func() aws.Credentials { return sigv4test.Credentials(int(asked.Load())) }
	s, url := chain(t, Options{Region: "eu-west-1"}, current)
	f := func(want int32) {
		t.Helper()
		if call(t, s, "POST", url, "{}", nil); asked.Load() != want {
			t.Errorf("asked %d times, want %d", asked.Load(), want)
		}
	}
	f(1) // they end in two minutes: too soon
	f(2)
	f(2)
	s, url = chain(t, Options{Region: "eu-west-1"}, current)
	if asked.Load() != 2 {
		t.Error("a signer asked for credentials before the first call")
	}
	fail = true
	_, err := s.Sign(httptest.NewRequest("POST", "http://h/", nil), nil)
	if err == nil || !strings.Contains(err.Error(), "no credentials today") {
		t.Errorf("got %v", err)
	}
	fail = false
	f(3)
}

// An instance's role, by IMDSv2.
func TestInstance(t *testing.T) {
	sigv4test.Bare(t)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	imds := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PUT" && r.URL.Path == "/latest/api/token" {
			w.Header().Set("X-Aws-Ec2-Metadata-Token-Ttl-Seconds", "300")
			_, _ = io.WriteString(w, "imds-token")
			return
		}
		if r.Header.Get("X-Aws-Ec2-Metadata-Token") != "imds-token" {
			t.Errorf("%s came without a token", r.RequestURI)
		}
		switch r.URL.Path {
		case "/latest/meta-data/iam/security-credentials/":
			_, _ = io.WriteString(w, "llm-role")
		case "/latest/meta-data/iam/security-credentials/llm-role":
			c := first()
			sigv4test.Give(w, &c, time.Hour)
		default:
			http.NotFound(w, r)
		}
	}))
	defer imds.Close()
	t.Setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", imds.URL)
	s, url := chain(t, Options{Region: "eu-west-1"}, first)
	call(t, s, "POST", url, "{}", nil)
}

// Many calls at once ask for credentials once.
func TestConcurrentCalls(t *testing.T) {
	sigv4test.Bare(t)
	var asked atomic.Int32
	sigv4test.Container(t, func() (*aws.Credentials, time.Duration) {
		asked.Add(1)
		c := first()
		return &c, time.Hour
	})
	s, url := chain(t, Options{Region: "eu-west-1"}, first)
	shared := http.Header{"Content-Type": {"application/json"}, "X-Amzn-Bedrock-Trace": {"ENABLED"}, "Idempotency-Key": nil}
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for i := range 10 {
				call(t, s, "POST", url, fmt.Sprintf(`{"n":%d}`, i), shared)
			}
		})
	}
	wait.Wait()
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// A caller that leaves does not wait for credentials; who comes later gets them,
// and Close waits for those who look.
func TestCallerLeaves(t *testing.T) {
	sigv4test.Bare(t)
	arrived, gate := make(chan struct{}), make(chan struct{})
	sigv4test.Container(t, func() (*aws.Credentials, time.Duration) {
		close(arrived)
		<-gate
		c := first()
		return &c, time.Hour
	})
	s, url := chain(t, Options{Region: "eu-west-1"}, first)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	failed := make(chan error)
	go func() {
		_, err := s.Sign(httptest.NewRequest("POST", "http://h/", nil).WithContext(ctx), nil)
		failed <- err
	}()
	<-arrived
	cancel(gone)
	if err := <-failed; !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.Close(ended); err == nil {
		t.Error("Close did not wait")
	}
	close(gate)
	call(t, s, "POST", url, "{}", nil)
}

// Errors say why, and show neither keys nor what is as good as one.
func TestReasons(t *testing.T) {
	home := sigv4test.Bare(t)
	f := func(o Options, want string) {
		t.Helper()
		o.Service = "bedrock"
		_, err := closed(t, New(o)).Sign(httptest.NewRequest("POST", "http://h/", nil), nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	f(Options{AccessKeyID: "AKID", SecretAccessKey: "secret"}, "no AWS region is known")
	f(Options{Region: "eu-west-1"}, "no EC2 IMDS role found")
	f(Options{Region: "eu-west-1", Profile: "gone"}, "gone")
	const refusing = "http://127.0.0.1:1" // nobody listens there
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", refusing+"/secret?secret=1")
	f(Options{Region: "eu-west-1"}, refusing)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://192.0.2.1/secret")
	f(Options{Region: "eu-west-1"}, "only loopback/ecs/eks hosts are allowed")
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "")
	if runtime.GOOS == "windows" {
		return
	}
	for _, process := range []struct{ output, want string }{
		{`not JSON: secret`, "credential_process: invalid character"},
		{`"secret"`, "credential_process: json: cannot unmarshal"},
		{`{"Version":9,"SecretAccessKey":"secret"}`, "credential_process: wrong version"},
	} {
		sigv4test.Write(t, home, ".aws/config", "[default]\ncredential_process = cat "+sigv4test.Write(t, home, "output", process.output)+"\n")
		f(Options{Region: "eu-west-1"}, process.want)
	}
}

func TestRegionOf(t *testing.T) {
	f := func(host, want string) {
		t.Helper()
		if got := RegionOf("https://" + host); got != want {
			t.Errorf("%s: got %q, want %q", host, got, want)
		}
	}
	f("bedrock-runtime.eu-west-1.amazonaws.com", "eu-west-1")
	f("bedrock-runtime.eu-west-1.amazonaws.com:443/x", "eu-west-1")
	f("Bedrock-Runtime.US-GOV-West-1.amazonaws.com.", "us-gov-west-1")
	f("bedrock-runtime-fips.us-east-2.amazonaws.com", "us-east-2")
	f("bedrock-runtime.cn-northwest-1.amazonaws.com.cn", "cn-northwest-1")
	f("bedrock-runtime.eusc-de-east-1.amazonaws.eu", "eusc-de-east-1")
	f("bedrock-runtime.us-east-1.api.aws", "us-east-1")
	f("vpce-0a1b2c3d4e5f-abcd1234.bedrock-runtime.us-east-1.vpce.amazonaws.com", "us-east-1")
	f("vpce-0a1b2c3d4e5f-abcd1234-us-east-1a.bedrock-runtime.us-east-1.vpce.amazonaws.com", "us-east-1")
	f("my-server-1.example.org", "")
	f("bedrock-runtime.eu-west-1.amazonaws.com.example.org", "")
	f("amazonaws.com", "")
	f("127.0.0.1:8080", "")
	f("[::1]:8080", "")
	if got := RegionOf("unix:/x"); got != "" {
		t.Errorf("got %q", got)
	}
	if got := RegionOf("http://%zz"); got != "" {
		t.Errorf("got %q", got)
	}
}
