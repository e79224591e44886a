// Package sigv4test plays AWS's side of a signed call: it checks signatures on
// what arrived, as AWS does, and hands out credentials.
package sigv4test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

var authorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=[^/]+/[0-9]{8}/[^/]+/[^/]+/aws4_request, SignedHeaders=([^,]+), Signature=[0-9a-f]{64}$`)

// Verify returns nil if r, a request as a server got it, with this body, is
// signed with these credentials for this service and region, at most five
// minutes before or after now. The signature is computed from r alone.
func Verify(r *http.Request, body []byte, credentials aws.Credentials, service, region string, now time.Time) error {
	m := authorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil || len(r.Header.Values("Authorization")) != 1 {
		return fmt.Errorf("the request is not signed: Authorization is %q", r.Header.Values("Authorization"))
	}
	signed := strings.Split(m[1], ";")
	if !slices.Contains(signed, "host") || !slices.Contains(signed, "x-amz-date") {
		return fmt.Errorf("only %s are signed", m[1])
	}
	date, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || now.Sub(date).Abs() > 5*time.Minute {
		return fmt.Errorf("the signature's time is %q, now it is %s", r.Header.Get("X-Amz-Date"), now)
	}
	if got := r.Header.Get("X-Amz-Security-Token"); got != credentials.SessionToken {
		return fmt.Errorf("the session token is %q, not %q", got, credentials.SessionToken)
	}
	at, err := url.Parse("http://" + r.Host + r.RequestURI)
	if err != nil {
		return err
	}
	again := &http.Request{Method: r.Method, URL: at, Host: r.Host, Header: http.Header{}}
	for name, values := range r.Header {
		lower := strings.ToLower(name)
		if slices.Contains(signed, lower) {
			again.Header[name] = slices.Clone(values)
		} else if lower == "content-type" || strings.HasPrefix(lower, "x-amz-") {
			return fmt.Errorf("the header %s is not signed", name)
		}
	}
	if slices.Contains(signed, "content-length") {
		again.ContentLength = r.ContentLength
	}
	hash := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(context.Background(), credentials, again, hex.EncodeToString(hash[:]), service, region, date)
	if err != nil {
		return err
	}
	if got, want := r.Header.Get("Authorization"), again.Header.Get("Authorization"); got != want {
		return fmt.Errorf("the signature does not match:\ngot  %s\nwant %s", got, want)
	}
	return nil
}
