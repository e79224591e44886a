package config

import (
	"net/url"
	"strings"
)

// routes are ends of paths that shipped adapters add themselves. A URL that ends
// in one was copied from a curl call.
var routes = []string{
	"/chat/completions", "/completions", "/completion", "/embeddings",
	"/generate", "/generate_stream", "/worker_generate", "/worker_generate_stream",
	"/api/chat", "/models", "/list_models", "/get_worker_address", "/api/v1/stream",
}

// backendURL checks text by the rule at Backend.URL and returns it without
// trailing slash.
func (p *parser) backendURL(path, adapter, text string) string {
	u, err := url.Parse(text)
	shown := p.env.shown(text)
	switch {
	case err != nil && !strings.Contains(text, "://"), err == nil && u.Scheme != "http" && u.Scheme != "https":
		p.bad(path, "must begin with http:// or https://, not %s", withoutUser(shown, u))
	case err != nil:
		p.bad(path, "is no valid URL") // nothing is shown: what cannot be parsed may hold a password
	case u.User != nil:
		p.bad(path, "must not hold a user or password: use key: or headers:")
	case u.Hostname() == "" || u.Opaque != "":
		p.bad(path, "names no host: %s", shown)
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		p.bad(path, "must not have a #fragment: %s", shown)
	default:
		if p.shipped.adapters[adapter] != nil {
			p.noRoute(path, u)
		}
		u.Path = strings.TrimRight(u.Path, "/")
		u.RawPath = strings.TrimRight(u.RawPath, "/")
		return u.String()
	}
	return ""
}

// handshakeURL returns the URL at which the WebSocket at text begins: ws and wss
// are http and https.
func handshakeURL(text string) string {
	if strings.HasPrefix(text, "ws://") || strings.HasPrefix(text, "wss://") {
		return "http" + strings.TrimPrefix(text, "ws")
	}
	return text
}

// noRoute refuses a URL that already holds what the adapter would add.
func (p *parser) noRoute(path string, u *url.URL) {
	trimmed := strings.TrimRight(u.Path, "/")
	for _, r := range routes {
		if before, ok := strings.CutSuffix(trimmed, r); ok {
			short := url.URL{Scheme: u.Scheme, Host: u.Host, Path: before}
			p.bad(path, "ends in %s, which the adapter adds itself: write %q", r, short.String())
			return
		}
	}
}

func withoutUser(shown string, u *url.URL) string {
	if u != nil && u.User != nil || strings.Contains(shown, "@") {
		return "what is written"
	}
	return shown
}

// proxyURL checks a backend's proxy: "", none, or a URL.
func (p *parser) proxyURL(path, text string) {
	if text == "" || text == "none" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
		p.bad(path, "must be none, or an http, https or socks5 URL")
	}
}
