package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ClientOptions says how a backend is reached.
type ClientOptions struct {
	Connect time.Duration // limit for connecting, TLS included; 0 is 10 s
	URL     string        // the backend's base URL; unix:/path makes the client use that socket
	Proxy   string        // "" takes HTTP_PROXY and its like, "none" uses none, else a proxy's URL
	HTTP2   bool          // for gRPC: see NewClient
}

// NewClient returns a client with connections of its own, kept alive for
// further calls. It speaks HTTP/1.1, where closing the connection tells the
// backend at once that nobody listens; it asks for no compression, tries IPv6
// and IPv4 side by side (RFC 8305), and sends nothing for this machine itself
// through a proxy.
//
// With HTTP2 it speaks that and nothing else, also without TLS (from the first
// byte, h2c), with many calls on one connection; a call that is cancelled resets
// its own stream at once.
func NewClient(o ClientOptions) (*http.Client, error) {
	if o.Connect <= 0 {
		o.Connect = 10 * time.Second
	}
	proxy, err := proxyFor(o.Proxy)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: o.Connect, KeepAlive: 15 * time.Second}
	t := &http.Transport{
		Proxy:                  proxy,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    o.Connect,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    1024,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 1 << 20,
		Protocols:              new(http.Protocols),
	}
	t.Protocols.SetHTTP1(!o.HTTP2)
	if o.HTTP2 {
		t.Protocols.SetHTTP2(true)
		t.Protocols.SetUnencryptedHTTP2(true)
		// A connection whose other end is gone must not take calls for ever. gRPC
		// servers take pings more often than every five minutes for an attack.
		t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 6 * time.Minute, PingTimeout: 15 * time.Second}
	}
	if socket, ok := strings.CutPrefix(o.URL, "unix:"); ok {
		t.Proxy = nil
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		}
	}
	if o.HTTP2 && !reaches(t.Proxy, o.URL) {
		return nil, errPlainProxy
	}
	return &http.Client{Transport: t}, nil
}

// errPlainProxy says why: net/http would speak HTTP/2 to the proxy itself.
var errPlainProxy = errors.New("proxy: gRPC without TLS cannot go through an HTTP proxy (valid: none, or a URL such as socks5://proxy:1080)")

// reaches reports whether HTTP/2 gets through the proxy that there is for backend.
func reaches(proxy func(*http.Request) (*url.URL, error), backend string) bool {
	req, err := http.NewRequest(http.MethodPost, backend, nil)
	if proxy == nil || err != nil || req.URL.Scheme != "http" {
		return true
	}
	u, err := proxy(req)
	return err != nil || u == nil || strings.HasPrefix(u.Scheme, "socks5")
}

// proxyFor returns the rule that setting stands for.
func proxyFor(setting string) (func(*http.Request) (*url.URL, error), error) {
	switch setting {
	case "":
		return direct(http.ProxyFromEnvironment), nil
	case "none":
		return nil, nil
	}
	proxy, err := url.Parse(setting)
	if err != nil || proxy.Host == "" {
		return nil, fmt.Errorf("proxy: not a URL with a host (valid: none, or a URL such as http://proxy:3128)")
	}
	return direct(http.ProxyURL(proxy)), nil
}

// direct keeps requests to this machine out of a proxy.
func direct(proxy func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	return func(r *http.Request) (*url.URL, error) {
		host := r.URL.Hostname()
		if ip := net.ParseIP(host); ip.IsLoopback() || strings.EqualFold(host, "localhost") {
			return nil, nil
		}
		return proxy(r)
	}
}
