// Package sigv4 signs calls to AWS services (Signature Version 4). The AWS SDK
// does the signing and finds the credentials, where and in the order in which
// every AWS program does: the environment, the shared files with their profiles,
// single sign-on, web identity, the container's role, the instance's. Nothing is
// looked for before the first call. The calls themselves are made by others.
package sigv4

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// Options say what is signed for whom. All but Service may be "".
type Options struct {
	Service string // the service's signing name, such as bedrock
	Region  string // "" is what the environment or the profile says
	Profile string // of the shared files; it goes before credentials of the environment

	// Fixed credentials, in place of those that would be found. SessionToken
	// belongs to temporary ones.
	AccessKeyID, SecretAccessKey, SessionToken string
}

// Signer signs the calls to one service. It is safe for concurrent use.
type Signer struct {
	options Options
	signer  *v4.Signer
	now     func() time.Time

	mu     sync.Mutex
	config *aws.Config // nil until the first call

	running sync.WaitGroup
}

// New returns a signer. It does not look for credentials yet.
func New(o Options) *Signer {
	return &Signer{options: o, signer: v4.NewSigner(), now: time.Now}
}

// Sign adds the signature of req, whose body is body, to its headers, and returns
// the parts of the proof that must not be seen in messages. It signs what AWS
// wants signed: method, host, path, query, body, Content-Type and the X-Amz-
// headers. Proxies may change the others.
//
// It may have to ask for credentials, for as long as req's context lasts. They
// are kept and renewed in time. An error tells why there are none, without
// showing parts of any.
func (s *Signer) Sign(req *http.Request, body []byte) (secrets []string, err error) {
	p, err := s.find(req.Context())
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(body)
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"} {
		req.Header.Del(name) // its values may be shared, and the SDK would write over them
	}
	signed := req.WithContext(req.Context())
	signed.Header = http.Header{}
	for name, values := range req.Header {
		if len(values) > 0 && (name == "Content-Type" || strings.HasPrefix(name, "X-Amz")) {
			signed.Header[name] = values
		}
	}
	err = s.signer.SignHTTP(req.Context(), p.credentials, signed, hex.EncodeToString(hash[:]), s.options.Service, p.region, s.now())
	if err != nil {
		return nil, err
	}
	req.Host = signed.Host // without the scheme's own port
	for name, values := range signed.Header {
		req.Header[name] = values
	}
	_, signature, _ := strings.Cut(req.Header.Get("Authorization"), "Signature=")
	return []string{p.credentials.AccessKeyID, p.credentials.SecretAccessKey, p.credentials.SessionToken, signature}, nil
}

// Close waits until nobody asks for credentials any more, at most until ctx
// ends. Nobody may be in Sign.
func (s *Signer) Close(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return errors.New("somebody still asks for AWS credentials")
	}
}

// proof is what a call is signed with.
type proof struct {
	credentials aws.Credentials
	region      string
}

// find returns what to sign with. Where ctx ends the search goes on: others may
// wait for what it finds.
func (s *Signer) find(ctx context.Context) (proof, error) {
	var p proof
	var err error
	done := make(chan struct{})
	s.running.Go(func() {
		defer close(done)
		p, err = s.search(context.Background())
	})
	select {
	case <-done:
		return p, err
	case <-ctx.Done():
		return proof{}, context.Cause(ctx)
	}
}

func (s *Signer) search(ctx context.Context) (proof, error) {
	cfg, err := s.load(ctx)
	if err != nil {
		return proof{}, reason(err)
	}
	p := proof{region: cmp.Or(s.options.Region, cfg.Region)}
	if p.region == "" {
		return proof{}, errors.New("no AWS region is known: set aws.region, or AWS_REGION")
	}
	if p.credentials, err = cfg.Credentials.Retrieve(ctx); err != nil {
		return proof{}, reason(err)
	}
	return p, nil
}
