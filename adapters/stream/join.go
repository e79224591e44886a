package stream

import (
	neturl "net/url"
	"slices"
	"strings"
)

// Join appends path to a backend's base URL. Both may have a query, and those
// are joined too. Where base has a version in its path and path begins with one
// (a segment such as v1 or v1beta), base's takes the place of path's: for the
// path /v1/chat, http://h and http://h/v1 both give http://h/v1/chat,
// http://h/api/v4 gives http://h/api/v4/chat, and http://h/v1beta/openai gives
// http://h/v1beta/openai/chat. A slash at the end of base means nothing. A base
// that begins with unix: names a socket, which the Client knows how to reach.
//
// This is the only place that knows the rule.
func Join(base, path string) string {
	if strings.HasPrefix(base, "unix:") {
		base = "http://localhost"
	}
	base, baseQuery, _ := strings.Cut(base, "?")
	path, query, _ := strings.Cut(path, "?")
	base = strings.TrimRight(base, "/")
	path = strings.TrimLeft(path, "/")
	first, rest, _ := strings.Cut(path, "/")
	if isVersion(first) && versioned(base) {
		path = rest
	}
	url := base
	if path != "" {
		url += "/" + path
	}
	if baseQuery != "" && query != "" {
		baseQuery += "&"
	}
	if q := baseQuery + query; q != "" {
		url += "?" + q
	}
	return url
}

// sameHost reports whether two URLs name the same scheme, host and port.
func sameHost(a, b string) bool {
	x, err := neturl.Parse(a)
	if err != nil {
		return false
	}
	y, err := neturl.Parse(b)
	return err == nil && x.Host != "" && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}

// versioned reports whether the path of a URL has a version in it.
func versioned(url string) bool {
	_, url, _ = strings.Cut(url, "://")
	_, path, _ := strings.Cut(url, "/")
	return slices.ContainsFunc(strings.Split(path, "/"), isVersion)
}

// isVersion reports whether segment is a version such as v1 or v1beta.
func isVersion(segment string) bool {
	return len(segment) > 1 && segment[0] == 'v' && '0' <= segment[1] && segment[1] <= '9'
}
