package sigv4

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"
	"github.com/aws/smithy-go/logging"
)

const (
	// askTimeout bounds one call for credentials; the SDK makes three at most.
	askTimeout = 10 * time.Second
	// early is how long before their end credentials are renewed, where the SDK
	// has no time of its own: a call must arrive before they end.
	early = time.Minute
)

// load returns the SDK's configuration, with the chain of credentials, which
// caches them. What could not be read is read again for the next call.
func (s *Signer) load(ctx context.Context) (*aws.Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config != nil {
		return s.config, nil
	}
	// Credentials are asked for about once an hour: connections would only lie about.
	client := awshttp.NewBuildableClient().WithTimeout(askTimeout).WithTransportOptions(func(t *http.Transport) {
		t.DisableKeepAlives = true
	})
	o := s.options
	options := []func(*config.LoadOptions) error{
		config.WithLogger(logging.Nop{}), // errors say what is to be said
		config.WithHTTPClient(client),
		config.WithEndpointCredentialOptions(func(o *endpointcreds.Options) { o.HTTPClient = client }),
		config.WithCredentialsCacheOptions(func(o *aws.CredentialsCacheOptions) {
			if o.ExpiryWindow == 0 {
				o.ExpiryWindow = early
			}
		}),
		config.WithDefaultRegion(o.Region), // for STS, where nothing says another
	}
	if o.Profile != "" {
		options = append(options, config.WithSharedConfigProfile(o.Profile))
	}
	if o.AccessKeyID != "" {
		fixed := credentials.NewStaticCredentialsProvider(o.AccessKeyID, o.SecretAccessKey, o.SessionToken)
		options = append(options, config.WithCredentialsProvider(fixed))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	s.config = &cfg
	return s.config, nil
}

// reason returns an error of the chain as it may be logged. What a
// credential_process wrote is quoted in it, and the path of an address may be as
// good as a key.
func reason(err error) error {
	if p, ok := errors.AsType[*processcreds.ProviderError](err); ok {
		return fmt.Errorf("credential_process: %w", cmp.Or(errors.Unwrap(p.Err), p.Err))
	}
	text := err.Error()
	if u, ok := errors.AsType[*url.Error](err); ok {
		host := "a URL"
		if parsed, err := url.Parse(u.URL); err == nil {
			host = parsed.Scheme + "://" + parsed.Host
		}
		text = strings.ReplaceAll(text, u.URL, host)
	}
	return errors.New(text)
}
