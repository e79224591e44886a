package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"dragoman/adapters/llm"
)

// admit checks that the client may use the API. With keys it must send one of
// them. Without, anything is accepted as a key, but the Host must be one that no
// foreign web page can point at this machine (DNS rebinding).
func (r *request) admit() error {
	if len(r.s.keys) > 0 {
		return r.checkKey()
	}
	if host := string(r.ctx.Request.Header.Host()); !r.s.servesHost(host) {
		return refusal(http.StatusForbidden, "host_not_allowed",
			"the Host %.100q is not served without keys; list it under hosts: in the configuration", host)
	}
	return nil
}

func (r *request) checkKey() error {
	h := &r.ctx.Request.Header
	var sent [][]byte
	if scheme, key, _ := strings.Cut(string(h.Peek("Authorization")), " "); strings.EqualFold(scheme, "Bearer") {
		sent = append(sent, []byte(strings.TrimSpace(key)))
	}
	sent = append(sent, h.Peek("Api-Key"), h.Peek("X-Api-Key"))
	missing := true
	for _, key := range sent {
		if len(key) == 0 {
			continue
		}
		missing = false
		if r.key = r.s.find(key); r.key > 0 {
			return nil
		}
	}
	r.ctx.Response.Header.Set("WWW-Authenticate", "Bearer")
	if missing {
		return &llm.Error{
			Status: http.StatusUnauthorized, Type: "invalid_request_error",
			Message: "You did not provide an API key. Send it in an Authorization header: Bearer YOUR_KEY.",
		}
	}
	return refusal(http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
}

// hashKeys makes keys equally long, so that comparing them tells nothing.
func hashKeys(keys []string) [][32]byte {
	hashes := make([][32]byte, len(keys))
	for i, key := range keys {
		hashes[i] = sha256.Sum256([]byte(key))
	}
	return hashes
}

// find returns which of the keys key is, from 1 on, or 0.
func (s *Server) find(key []byte) int {
	sum, found := sha256.Sum256(key), 0
	for i := range s.keys {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], s.keys[i][:]), i+1, found)
	}
	return found
}

func (s *Server) servesHost(host string) bool {
	name := hostname(host)
	// Only old clients send none; browsers always do.
	return name == "" || isLocal(name) || isIP(name) || slices.ContainsFunc(s.o.Hosts, func(h string) bool {
		return strings.EqualFold(hostname(h), name)
	})
}

// hostname cuts port, brackets and the final dot off.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

func isLocal(name string) bool { return name == "localhost" || strings.HasSuffix(name, ".localhost") }

func isIP(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

const (
	corsMethods = "GET, POST, DELETE, OPTIONS, HEAD"
	corsHeaders = "authorization, content-type, accept, user-agent, openai-organization, openai-project, openai-beta, " +
		"x-requested-with, x-request-id, api-key, x-api-key"
	corsExpose = "x-request-id, openai-processing-ms, retry-after, retry-after-ms, x-should-retry"
)

// cors answers a preflight, before any key is asked for, and marks every other
// reply to an allowed origin so that its page may read it. Without keys a foreign
// web page is refused: it could else spend this machine's time, if unseen.
func (r *request) cors() (preflight bool, err error) {
	h, reply := &r.ctx.Request.Header, &r.ctx.Response.Header
	origin := string(h.Peek("Origin"))
	allowed := origin != "" && r.s.servesOrigin(origin, string(h.Host()))
	if allowed {
		reply.Set("Access-Control-Allow-Origin", origin)
		reply.Set("Access-Control-Expose-Headers", corsExpose)
		reply.Add("Vary", "Origin")
	}
	if r.line.method != http.MethodOptions {
		if origin != "" && !allowed && len(r.s.keys) == 0 && isWeb(origin) {
			return false, refusal(http.StatusForbidden, "origin_not_allowed",
				"the origin %.100q is not allowed; list it under origins: in the configuration", origin)
		}
		return false, nil
	}
	r.ctx.Response.SetStatusCode(http.StatusNoContent)
	if allowed {
		reply.Set("Access-Control-Allow-Methods", corsMethods)
		reply.Set("Access-Control-Allow-Headers", allowHeaders(string(h.Peek("Access-Control-Request-Headers"))))
		reply.Set("Access-Control-Max-Age", "7200")
		if string(h.Peek("Access-Control-Request-Private-Network")) == "true" {
			reply.Set("Access-Control-Allow-Private-Network", "true")
		}
	}
	return true, nil
}

// isWeb tells web pages from programs that name themselves, such as
// app://obsidian.md, which no page can do. "null" is a page that hides.
func isWeb(origin string) bool {
	scheme, _, named := strings.Cut(origin, "://")
	return !named || strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// servesOrigin: the configured ones; with keys and none configured all, since a
// page has no key to send; else localhost and the page that came from here.
func (s *Server) servesOrigin(origin, host string) bool {
	if slices.ContainsFunc(s.o.Origins, func(o string) bool { return o == "*" || strings.EqualFold(o, origin) }) {
		return true
	}
	if len(s.keys) > 0 && len(s.o.Origins) == 0 {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && addr.IsLoopback() {
		return true
	}
	return isLocal(strings.ToLower(u.Hostname())) || strings.EqualFold(u.Host, host)
}

// allowHeaders lists the usual headers and those that the browser asks for: "*"
// would not cover Authorization.
func allowHeaders(asked string) string {
	list := corsHeaders
	for name := range strings.SplitSeq(asked, ",") {
		name = strings.ToLower(strings.TrimSpace(name))
		token := name != "" && !strings.ContainsFunc(name, func(c rune) bool {
			return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_')
		})
		if token && len(list) < 4096 {
			list += ", " + name
		}
	}
	return list
}
