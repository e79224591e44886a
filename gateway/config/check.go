package config

import (
	"math"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"dragoman/adapters/yamlstrict"
)

// check turns what was written into a Config.
func (p *parser) check(w *written) *Config {
	c := defaults
	c.Insecure, c.Keys, c.Origins, c.Hosts = w.Insecure, w.Keys, w.CORS.Origins, w.Hosts
	c.Drain, c.CommitAfter, c.KeepAlive, c.WriteTimeout = w.Drain, w.CommitAfter, w.KeepAlive, w.WriteTimeout
	for i, k := range c.Keys {
		if !validHeaderValue(k.Reveal()) || k == "" {
			p.bad(yamlstrict.Index("keys", i), "must be a text of printable ASCII characters, and not be empty")
		}
	}
	p.listen(&w.Listen, &c)
	p.browsers(&c)
	c.BodyLimit = p.size("body_limit", w.BodyLimit, c.BodyLimit, math.MaxInt32)
	c.FrameLimit = p.size("frame_limit", w.FrameLimit, c.FrameLimit, math.MaxInt32)
	c.EngineMemory = p.size("engine_memory", w.EngineMemory, 0, 1<<50)
	for i, t := range []time.Duration{c.CommitAfter, c.KeepAlive, c.WriteTimeout} {
		if t == 0 {
			p.bad([]string{"commit_after", "keep_alive", "write_timeout"}[i], "must be longer than 0")
		}
	}
	if w.DefaultMaxTokens < 1 {
		p.bad("default_max_tokens", "must be 1 or more, not %d", w.DefaultMaxTokens)
	}
	c.Log = p.log(w.Log)
	c.Adapters = p.adapters(&w.Adapters)
	c.Models = p.models(&w.Models, &c, w.DefaultMaxTokens)
	return &c
}

// listen fills c.Listen and refuses addresses that would let others in unasked.
func (p *parser) listen(n *yaml.Node, c *Config) {
	switch n.Kind {
	case 0:
		return
	case yaml.ScalarNode:
		c.Listen = make([]string, 1)
		p.decode(n, "listen", &c.Listen[0])
	default:
		p.decode(n, "listen", &c.Listen)
	}
	if len(c.Listen) == 0 {
		p.bad("listen", "must name at least one address, such as 127.0.0.1:8000")
	}
	for i, addr := range c.Listen {
		path := "listen"
		if n.Kind != yaml.ScalarNode {
			path = yamlstrict.Index(path, i)
		}
		local, problem := listenable(addr)
		switch {
		case problem != "":
			p.bad(path, "%s, not %s", problem, p.env.shown(addr))
		case !local && len(c.Keys) == 0 && !c.Insecure:
			p.bad(path, "%s can be reached from other machines: set keys:, or insecure: true if anyone may use it", p.env.shown(addr))
		}
	}
}

// listenable says whether only this machine reaches addr, or what is wrong with it.
func listenable(addr string) (local bool, problem string) {
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		if path == "" {
			return false, "must be unix:PATH"
		}
		return true, ""
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false, "must be host:port, such as 127.0.0.1:8000 or [::1]:8000"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return false, "must end in a port from 0 to 65535"
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback(), ""
	}
	return strings.EqualFold(host, "localhost"), ""
}

// browsers checks the origins and host names.
func (p *parser) browsers(c *Config) {
	for i, origin := range c.Origins {
		u, err := url.Parse(origin)
		if origin == "*" || err == nil && u.Scheme != "" && u.Host != "" && origin == u.Scheme+"://"+u.Host {
			continue
		}
		p.bad(yamlstrict.Index("cors.origins", i), "must be * or an origin such as https://chat.example.org, without a path, not %s", p.env.shown(origin))
	}
	for i, host := range c.Hosts {
		if host == "" || strings.ContainsAny(host, "/:@?#*, ") {
			p.bad(yamlstrict.Index("hosts", i), "must be a host name without port, such as chat.example.org, not %s", p.env.shown(host))
		}
	}
}

// size returns the bytes that text such as 32MiB means, most at most; absent text
// is fallback.
func (p *parser) size(path, text string, fallback, most int64) int64 {
	if text == "" {
		return fallback
	}
	digits := strings.TrimRight(text, "BKMGi ")
	shift, ok := map[string]uint{"": 0, "B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[strings.TrimSpace(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 1 || n > most>>shift {
		p.bad(path, "must be a size such as 512KiB, 32MiB or 1GiB, not %s", p.env.shown(text))
		return fallback
	}
	return n << shift
}

func (p *parser) log(w writtenLog) Log {
	levels := []string{"debug", "info", "warn", "error"}
	var l Log
	if w.Level != "" && (!slices.Contains(levels, w.Level) || l.Level.UnmarshalText([]byte(w.Level)) != nil) {
		p.bad("log.level", "no level %s%s", p.env.shown(w.Level), yamlstrict.Suggest(w.Level, levels))
	}
	switch w.Format {
	case "", "text":
	case "json":
		l.JSON = true
	default:
		p.bad("log.format", "no format %s%s", p.env.shown(w.Format), yamlstrict.Suggest(w.Format, []string{"text", "json"}))
	}
	return l
}

// validHeaderValue reports whether s can stand in an HTTP header as it is.
func validHeaderValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7e })
}
