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

// withAuthorization returns up as this one client reaches it.
func withAuthorization(up *stream.Upstream, value string) *stream.Upstream {
	own := *up
	own.Header = up.Header.Clone()
	if own.Header == nil {
		own.Header = http.Header{}
	}
	own.Header.Set("Authorization", value)
	own.Secrets = append(slices.Clip(up.Secrets), value)
	if _, token, ok := strings.Cut(value, " "); ok && token != "" {
		own.Secrets = append(own.Secrets, token)
	}
	return &own
}
