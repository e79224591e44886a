package config

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"dragoman/adapters/yamlstrict"
)

// models returns the entries of the models section in the order of the file.
func (p *parser) models(n *yaml.Node, c *Config, maxTokens int64) []Model {
	var entries map[string]yaml.Node
	reported := len(p.errs.List)
	p.decode(n, "models", &entries)
	if len(entries) == 0 {
		if len(p.errs.List) > reported {
			return nil
		}
		p.bad("models", "must name at least one model, such as stories: {engine: {model: \"builtin:stories\"}}")
		return nil
	}
	names := slices.SortedFunc(maps.Keys(entries), func(a, b string) int {
		x, y := entries[a], entries[b]
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column), cmp.Compare(a, b))
	})
	models := make([]Model, 0, len(names))
	for _, name := range names {
		node := entries[name]
		e := entry{}
		m := Model{Name: name, Path: yamlstrict.Key("models", name)}
		p.decode(&node, m.Path, &e)
		p.name(m.Path, name)
		m.Aliases, m.Fallback = e.Aliases, e.Fallback
		m.Backends = p.backends(&m, &e, c, maxTokens)
		models = append(models, m)
	}
	p.aliases(models)
	p.fallbacks(models)
	return models
}

// name checks what clients ask for.
func (p *parser) name(path, name string) {
	switch {
	case name == "" || strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }):
		p.bad(path, "a model's name must not be empty, begin or end with a space, or hold control characters")
	case strings.Contains(strings.TrimSuffix(name, "*"), "*"):
		p.bad(path, "a name may have one *, at its end, such as \"ollama/*\" or \"*\"")
	}
}

// aliases refuses names that mean two models.
func (p *parser) aliases(models []Model) {
	owner := map[string]string{}
	for i := range models {
		owner[models[i].Name] = models[i].Path
	}
	for i := range models {
		m := &models[i]
		for j, alias := range m.Aliases {
			path := yamlstrict.Index(yamlstrict.Key(m.Path, "aliases"), j)
			other, taken := owner[alias]
			switch {
			case strings.Contains(alias, "*"):
				p.bad(path, "%s: only names may hold a *", p.env.shown(alias))
			case m.Wildcard():
				p.bad(path, "%s: an entry whose name ends in * has no aliases", p.env.shown(alias))
			case taken:
				p.bad(path, "%s is already the name or an alias of %s", p.env.shown(alias), other)
			default:
				p.name(path, alias)
				owner[alias] = m.Path
			}
		}
	}
}

// backends returns the backends of an entry: those of its list, or the one whose
// keys stand beside the entry's own.
func (p *parser) backends(m *Model, e *entry, c *Config, maxTokens int64) []Backend {
	all, at := e.Backends, func(i int) string { return yamlstrict.Index(m.Path+".backends", i) }
	switch {
	case all == nil:
		all, at = []Backend{e.Backend}, func(int) string { return m.Path }
	case !reflect.ValueOf(e.Backend).IsZero():
		p.bad(m.Path+".backends", "cannot stand beside the keys of a single backend: move them into the list")
		return nil
	case len(all) == 0:
		p.bad(m.Path+".backends", "must hold at least one backend")
		return nil
	}
	spare := 0
	for i := range all {
		b := &all[i]
		p.backend(at(i), m, b, c)
		b.DefaultMaxTokens = cmp.Or(b.DefaultMaxTokens, maxTokens)
		if b.Weight != nil && *b.Weight == 0 {
			spare++
		}
	}
	if spare == len(all) {
		p.bad(at(0)+".weight", "0 is for a backend that helps out when others fail, and there is no other")
	}
	return all
}
