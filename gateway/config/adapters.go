package config

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"dragoman/adapters"
	"dragoman/adapters/declared"
	"dragoman/adapters/yamlstrict"
)

// adapters returns the shipped dialects and those that n declares.
func (p *parser) adapters(n *yaml.Node) map[string]adapters.Adapter {
	all := maps.Clone(p.shipped.adapters)
	var own map[string]yaml.Node
	p.decode(n, "adapters", &own)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		node := own[name]
		path := yamlstrict.Key("adapters", name)
		if p.shipped.adapters[name] != nil {
			p.bad(path, "is the name of a shipped adapter: choose another")
			continue
		}
		spec, errs := declared.Parse(name, &node)
		p.report(path, errs)
		if spec != nil {
			all[name] = declared.New(spec)
		} else {
			p.broken = append(p.broken, name)
		}
	}
	return all
}

// adapterNames returns what may be named, for messages.
func (p *parser) adapterNames(c *Config) []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(p.broken), maps.Keys(c.Adapters))))
}
