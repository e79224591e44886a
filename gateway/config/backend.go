package config

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/yamlstrict"
)

const maxWeight = 1000

// backend checks b, which stands at path, and fills in what is absent.
func (p *parser) backend(path string, m *Model, b *Backend, c *Config) {
	if b.Engine != nil {
		p.engine(path, b)
	} else {
		p.server(path, b, c)
	}
	p.backendModel(path, m, b)
	p.template(path, b, c)
	p.parsing(path, b)
	p.fields(path, b)
	if b.MaxConcurrent < 0 {
		p.bad(path+".max_concurrent", "must be 1 or more, or 0 for what the adapter says, not %d", b.MaxConcurrent)
	}
	if w := b.Weight; w != nil && (*w < 0 || *w > maxWeight) {
		p.bad(path+".weight", "must be from 0 to %d, not %d", maxWeight, *w)
	}
	if b.DefaultMaxTokens < 0 {
		p.bad(path+".default_max_tokens", "must be 1 or more, not %d", b.DefaultMaxTokens)
	}
	if slices.Contains(b.EndTexts, "") {
		p.bad(path+".end_texts", "must not hold an empty text")
	}
	b.Timeout.Connect = cmp.Or(b.Timeout.Connect, defaultTimeout.Connect)
	b.Timeout.First = cmp.Or(b.Timeout.First, defaultTimeout.First)
	b.Timeout.Idle = cmp.Or(b.Timeout.Idle, defaultTimeout.Idle)
}

// engine checks a backend that the gateway starts itself.
func (p *parser) engine(path string, b *Backend) {
	for _, f := range []struct {
		key string
		set bool
	}{
		{"adapter", b.Adapter != ""},
		{"url", b.URL != ""},
		{"controller", b.Controller != ""},
		{"model", b.Model != ""},
		{"key", b.Key != ""},
		{"key_file", b.KeyFile != ""},
		{"headers", b.Headers != nil},
		{"forward_auth", b.ForwardAuth},
		{"aws", b.AWS != nil},
		{"proxy", b.Proxy != ""},
	} {
		if f.set {
			p.bad(path+"."+f.key, "cannot stand beside engine:, which starts its own server")
		}
	}
	b.Adapter = "native"
	path += ".engine"
	e := b.Engine
	p.engineModel(path+".model", e)
	p.computing(path, e)
	for i, n := range []int{e.Ctx, e.Parallel, e.Threads} {
		if n < 0 {
			p.bad(path+"."+[]string{"ctx", "parallel", "threads"}[i], "must not be negative: %d", n)
		}
	}
	if e.Parallel > 256 { // llama.cpp's limit
		p.bad(path+".parallel", "must be 256 at most, not %d", e.Parallel)
	}
	if e.Threads > 512 { // llama.cpp's limit
		p.bad(path+".threads", "must be 512 at most, not %d", e.Threads)
	}
	if e.Lib != "" {
		e.Lib = p.file(path+".lib", e.Lib)
	}
}

// server checks a backend that is reached by URL.
func (p *parser) server(path string, b *Backend, c *Config) {
	if b.Adapter == "" && b.URL == "" && b.Controller == "" {
		p.bad(path, "needs engine:, or adapter: and url:")
		return
	}
	valid := p.adapterNames(c)
	if b.Adapter == "" {
		p.bad(path+".adapter", "is missing%s", yamlstrict.Suggest("", valid))
	} else if !slices.Contains(valid, b.Adapter) {
		p.bad(path+".adapter", "no adapter %s%s", p.env.shown(b.Adapter), yamlstrict.Suggest(b.Adapter, valid))
	}
	switch {
	case b.Controller != "":
		p.controller(path+".controller", b, c)
	case b.URL == "":
		p.bad(path+".url", "is missing, such as http://127.0.0.1:8080")
	default:
		if a := c.Adapters[b.Adapter]; a != nil && a.Traits().Framing == frame.WS {
			b.URL = handshakeURL(b.URL)
		}
		b.URL = p.backendURL(path+".url", b.Adapter, b.URL)
	}
	p.proxyURL(path+".proxy", b.Proxy)
	p.keys(path, b)
	p.signing(path, b, c)
}

// controller checks where the servers are found.
func (p *parser) controller(path string, b *Backend, c *Config) {
	adapter := c.Adapters[b.Adapter]
	if _, finds := adapter.(adapters.Finder); adapter != nil && !finds {
		p.bad(path, "the %s adapter has no controller to ask: use url:", b.Adapter)
	}
	if b.URL != "" {
		p.bad(path, "cannot stand beside url:, which is one server's")
	}
	b.Controller = p.backendURL(path, b.Adapter, b.Controller)
}

// keys checks what proves the gateway to the backend, and reads the key's file.
func (p *parser) keys(path string, b *Backend) {
	if b.KeyFile != "" {
		if b.Key != "" {
			p.bad(path+".key_file", "cannot stand beside key:")
		}
		b.KeyFile = p.resolve(b.KeyFile)
		data, err := os.ReadFile(b.KeyFile)
		if why := (*fs.PathError)(nil); errors.As(err, &why) {
			p.bad(path+".key_file", "cannot be read: %v", why.Err)
		}
		b.Key = Secret(strings.TrimSpace(string(data)))
		if err == nil && b.Key == "" {
			p.bad(path+".key_file", "%s is empty", p.env.shown(b.KeyFile))
		}
	}
	if !validHeaderValue(b.Key.Reveal()) {
		at := path + ".key"
		if b.KeyFile != "" {
			at += "_file"
		}
		p.bad(at, "must be one line of printable ASCII characters")
	}
	p.headers(path, b)
}

// headers checks what is sent with every call.
func (p *parser) headers(path string, b *Backend) {
	seen := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(b.Headers)) {
		value := b.Headers[name]
		at, canonical := yamlstrict.Key(path+".headers", name), textproto.CanonicalMIMEHeaderKey(name)
		if !validHeaderName(name) {
			p.bad(at, "is no name of a header")
		}
		if !validHeaderValue(value.Reveal()) {
			p.bad(at, "must be a text of printable ASCII characters")
		}
		if slices.Contains(ownHeaders, canonical) {
			p.bad(at, "is set by the gateway itself")
		}
		if b.Key != "" && canonical == "Authorization" {
			p.bad(at, "cannot stand beside key:")
		}
		if other, ok := seen[canonical]; ok {
			p.bad(at, "is the same header as %s", quote(other))
		}
		seen[canonical] = name
	}
}

// ownHeaders frame the request: another value would break it.
var ownHeaders = []string{"Content-Length", "Transfer-Encoding", "Connection", "Content-Type", "Accept-Encoding"}

func validHeaderName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// file returns the path of a file or folder that must be there.
func (p *parser) file(path, name string) string {
	full := p.resolve(name)
	if _, err := os.Stat(full); err != nil {
		p.bad(path, "%s: no such file", p.env.shown(name))
	}
	return full
}

// resolve finds relative paths from the configuration's folder.
func (p *parser) resolve(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(p.dir, name)
}
