package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"dragoman/adapters/llm"
	"dragoman/gateway/openai"
)

// route is what is served under a path.
type route struct {
	allow  string // for the Allow header
	open   bool   // needs no key
	handle func(r *request, arg string) error
}

func (rt *route) allows(method string) bool {
	return slices.Contains(strings.Split(rt.allow, ", "), method)
}

const (
	get  = "GET, HEAD"
	post = "POST"
)

var (
	chat       = &route{allow: post, handle: func(r *request, _ string) error { return r.generate(openai.ParseChat) }}
	completion = &route{allow: post, handle: func(r *request, _ string) error { return r.generate(openai.ParseCompletion) }}
	embeddings = &route{allow: post, handle: (*request).embed}
	models     = &route{allow: get, handle: (*request).listModels}
	model      = &route{allow: get, handle: (*request).showModel}
	tokens     = &route{allow: post, handle: (*request).tokenCheck}
	health     = &route{allow: get, open: true, handle: (*request).health}
	welcome    = &route{allow: get, open: true, handle: (*request).welcome}
)

var routes = map[string]*route{
	"/chat/completions": chat,
	"/chat":             chat, // the path of torchchat's server
	"/completions":      completion,
	"/embeddings":       embeddings,
	"/models":           models,
	"/health":           health,
	"/healthz":          health,
	"/":                 welcome,

	"/api/v1/chat/completions": chat, // FastChat's API server, which takes repetition_penalty here alone
	"/api/v1/token_check":      tokens,
}

// match finds the route of a path from cleanPath, with or without /v1, and the
// model id in it. It returns nil if there is none.
func match(path string) (*route, string) {
	for strings.HasPrefix(path, "/v1/") { // clients add it to a base URL that has it
		path = path[len("/v1"):]
	}
	if path == "/v1" {
		path = "/"
	}
	if id, ok := strings.CutPrefix(path, "/models/"); ok {
		return model, id
	}
	return routes[path], ""
}

// cleanPath returns the path of a request target: without query, unescaped, with
// single slashes and none at the end. Clients join URLs carelessly, and many do
// not follow redirects.
func cleanPath(target string) string {
	if i := strings.IndexAny(target, "?#"); i >= 0 {
		target = target[:i]
	}
	if _, rest, ok := strings.Cut(target, "://"); ok && !strings.HasPrefix(target, "/") { // absolute form
		_, target, _ = strings.Cut(rest, "/")
	}
	if plain, err := url.PathUnescape(target); err == nil {
		target = plain
	}
	var b strings.Builder
	for part := range strings.SplitSeq(target, "/") {
		if part != "" {
			b.WriteByte('/')
			b.WriteString(part)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

func unknownURL(method, path string) *llm.Error {
	return refusal(http.StatusNotFound, "unknown_url", "Unknown request URL: %.20s %.200s. The API is under /v1, such as POST /v1/chat/completions.", method, path)
}

func wrongMethod(method, path, allow string) *llm.Error {
	return refusal(http.StatusMethodNotAllowed, "method_not_supported", "%.20s is not supported on %.200s; use %s.", method, path, allow)
}
