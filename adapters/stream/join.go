package stream

import "strings"

// Join appends path to a backend's base URL. Both may have a query, and those
// are joined too. Where base ends in a version and path begins with one (v and
// digits, a segment of its own), base's takes the place of path's: for the path
// /v1/chat, http://h and http://h/v1 both give http://h/v1/chat, and
// http://h/api/v4 gives http://h/api/v4/chat. A slash at the end of base means
// nothing. A base that begins with unix: names a socket, which the Client knows
// how to reach.
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
	if own := base[strings.LastIndexByte(base, '/')+1:]; isVersion(first) && isVersion(own) && !strings.HasSuffix(base, "://"+own) {
		path = rest // own is no host: it has a path before it
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

// isVersion reports whether segment is a version such as v1.
func isVersion(segment string) bool {
	digits, ok := strings.CutPrefix(segment, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
