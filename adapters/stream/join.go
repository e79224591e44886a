package stream

import "strings"

// Join appends path to a backend's base URL. Both may have a query, which are
// joined too. Where base already ends with the beginning of path, in whole
// segments, that part is not repeated: http://h/v1 and http://h/v1/chat both
// give http://h/v1/chat for the path /v1/chat. A base that begins with unix:
// names a socket, which the Client knows how to reach.
func Join(base, path string) string {
	if strings.HasPrefix(base, "unix:") {
		base = "http://localhost"
	}
	base, baseQuery, _ := strings.Cut(base, "?")
	path, query, _ := strings.Cut(path, "?")
	base = strings.TrimRight(base, "/")
	path = "/" + strings.TrimLeft(path, "/")
	root := len(base) // where the path of base begins
	if _, rest, ok := strings.Cut(base, "://"); ok {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			root = len(base) - len(rest) + i
		}
	}
	for i := root; i < len(base); i++ {
		if base[i] == '/' && strings.HasPrefix(path+"/", base[i:]+"/") {
			base = base[:i]
			break
		}
	}
	url := base + path
	if baseQuery != "" && query != "" {
		baseQuery += "&"
	}
	if q := baseQuery + query; q != "" {
		url += "?" + q
	}
	return url
}
