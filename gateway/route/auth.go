package route

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"dragoman/adapters/stream"
)

type authorizationKey struct{}

// WithAuthorization returns a ctx that carries the client's Authorization header
// to Open, which sends it on where the configuration says forward_auth, and
// nowhere else.
func WithAuthorization(ctx context.Context, value string) context.Context {
	return context.WithValue(ctx, authorizationKey{}, value)
}

func authorization(ctx context.Context) string {
	value, _ := ctx.Value(authorizationKey{}).(string)
	return value
}

// setKey puts a backend's key into the header that its protocol has for it: ""
// is Authorization (adapters.Traits).
func setKey(h http.Header, header, key string) {
	if header == "" {
		header, key = "Authorization", "Bearer "+key
	}
	h.Set(header, key)
}

// withAuthorization returns up as this one client reaches it.
func withAuthorization(up *stream.Upstream, keyHeader, value string) *stream.Upstream {
	own := *up
	own.Header = up.Header.Clone()
	if own.Header == nil {
		own.Header = http.Header{}
	}
	own.Secrets = append(slices.Clip(up.Secrets), value)
	_, token, ok := strings.Cut(value, " ")
	if ok && token != "" {
		own.Secrets = append(own.Secrets, token)
	}
	if keyHeader == "" {
		own.Header.Set("Authorization", value)
	} else if token != "" {
		setKey(own.Header, keyHeader, token)
	}
	return &own
}
