package config

import (
	"maps"
	"net/textproto"
	"regexp"
	"slices"
	"strings"

	"dragoman/adapters/yamlstrict"
)

// AWS says with which credentials the calls to a backend are signed (SigV4). All
// of it may be left out.
type AWS struct {
	// Region is the one that calls are signed for. Default: what the URL's host
	// says, else AWS_REGION or the profile.
	Region string `yaml:"region"`
	// Profile names a profile of AWS's shared files. Default: AWS's chain, which
	// begins with the environment.
	Profile string `yaml:"profile"`
	// AccessKeyID and SecretAccessKey are credentials in place of those that the
	// chain would find; SessionToken belongs to temporary ones.
	AccessKeyID     Secret `yaml:"access_key_id"`
	SecretAccessKey Secret `yaml:"secret_access_key"`
	SessionToken    Secret `yaml:"session_token"`
}

// signing checks how the calls to b are signed, after its keys. A backend whose
// adapter signs, and for which nothing else is said, is called with the bearer
// key of the environment, else with what AWS's chain finds.
func (p *parser) signing(path string, b *Backend, c *Config) {
	adapter := c.Adapters[b.Adapter]
	if adapter == nil {
		return // said already
	}
	service := adapter.Traits().Signing
	switch {
	case service == "" && b.AWS != nil:
		p.bad(path+".aws", "has no use: calls of the %s adapter are not signed", b.Adapter)
		return
	case service == "":
		return
	case b.AWS != nil:
		p.aws(path, b)
	case b.Key != "" || b.ForwardAuth || hasHeader(b, "Authorization"):
		return
	default:
		p.ambient(path, service, b)
	}
}

// ambient takes the service's bearer key from the environment, where AWS's own
// clients take it before all other credentials.
func (p *parser) ambient(path, service string, b *Backend) {
	name := "AWS_BEARER_TOKEN_" + strings.ToUpper(service)
	token, _ := p.env.lookup(name)
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		b.AWS = &AWS{}
	case !validHeaderValue(token):
		p.bad(path, "the environment variable %s must be one line of printable ASCII characters", name)
	default:
		b.Key = Secret(token)
	}
}

var regionName = regexp.MustCompile(`^[a-z0-9-]+$`)

// aws checks what is written below aws:, and beside it.
func (p *parser) aws(path string, b *Backend) {
	for _, f := range []struct {
		key string
		set bool
	}{{"key", b.Key != "" && b.KeyFile == ""}, {"key_file", b.KeyFile != ""}, {"forward_auth", b.ForwardAuth}} {
		if f.set {
			p.bad(path+"."+f.key, "cannot stand beside aws:, which has the calls signed")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Headers)) {
		if slices.Contains([]string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"}, textproto.CanonicalMIMEHeaderKey(name)) {
			p.bad(yamlstrict.Key(path+".headers", name), "cannot stand beside aws:, which has the calls signed")
		}
	}
	a, path := b.AWS, path+".aws"
	if a.Region != "" && !regionName.MatchString(a.Region) {
		p.bad(path+".region", "no region %s; they look like eu-west-1", p.env.shown(a.Region))
	}
	for i, secret := range []Secret{a.AccessKeyID, a.SecretAccessKey, a.SessionToken} {
		if !validHeaderValue(secret.Reveal()) {
			p.bad(path+"."+[]string{"access_key_id", "secret_access_key", "session_token"}[i], "must be one line of printable ASCII characters")
		}
	}
	id, key := a.AccessKeyID != "", a.SecretAccessKey != ""
	switch {
	case id && !key:
		p.bad(path+".access_key_id", "needs secret_access_key: beside it")
	case key && !id:
		p.bad(path+".secret_access_key", "needs access_key_id: beside it")
	case a.SessionToken != "" && !id:
		p.bad(path+".session_token", "needs access_key_id: and secret_access_key: beside it")
	case a.Profile != "" && id:
		p.bad(path+".profile", "cannot stand beside access_key_id:")
	}
}

// hasHeader reports whether b has a header of this canonical name.
func hasHeader(b *Backend, canonical string) bool {
	for name := range b.Headers {
		if textproto.CanonicalMIMEHeaderKey(name) == canonical {
			return true
		}
	}
	return false
}
