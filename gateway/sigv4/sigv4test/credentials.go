package sigv4test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Bare takes away all that could give this process AWS credentials, for the
// time of the test, and returns the home folder that it has instead.
func Bare(t testing.TB) string {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, ".aws", "config")) // the SDK knows the home folder from its start on
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, ".aws", "credentials"))
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	return home
}

// Write writes a file below the home folder.
func Write(t testing.TB, home, name, text string) string {
	t.Helper()
	path := filepath.Join(home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Credentials returns the n-th of some temporary credentials.
func Credentials(n int) aws.Credentials {
	return aws.Credentials{
		AccessKeyID:     fmt.Sprintf("ASIAEXAMPLE%05d", n),
		SecretAccessKey: fmt.Sprintf("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLE%05d", n),
		SessionToken:    fmt.Sprintf("FwoGZXIvYXdzEBYaDExample//%05d==", n),
	}
}

// Container starts an endpoint that gives out credentials as those of ECS and
// EKS do, and points the environment to it. next returns what is given out and
// for how long it lasts; nil credentials are a failure.
func Container(t testing.TB, next func() (*aws.Credentials, time.Duration)) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/role/secret-path" || r.Header.Get("Authorization") != "container-token" {
			http.Error(w, "who are you?", http.StatusForbidden)
			return
		}
		c, lasts := next()
		if c == nil {
			http.Error(w, "no credentials today", http.StatusBadRequest)
			return
		}
		Give(w, c, lasts)
	}))
	t.Cleanup(s.Close)
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", s.URL+"/role/secret-path")
	t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "container-token")
}

// Give writes credentials as containers and instances get them.
func Give(w http.ResponseWriter, c *aws.Credentials, lasts time.Duration) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{ // to a client that is gone
		"Code": "Success", "AccessKeyId": c.AccessKeyID, "SecretAccessKey": c.SecretAccessKey, "Token": c.SessionToken,
		"Expiration": time.Now().Add(lasts).UTC().Format(time.RFC3339),
	})
}
