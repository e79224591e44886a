package config

import (
	"path/filepath"
	"slices"
	"strings"

	"dragoman/adapters"
	notation "dragoman/adapters/parse"
	"dragoman/adapters/yamlstrict"
)

// backendModel checks the * of a backend's model name and fills in the default.
func (p *parser) backendModel(path string, m *Model, b *Backend) {
	switch stars := strings.Count(b.Model, "*"); {
	case stars > 0 && !m.Wildcard():
		p.bad(path+".model", "%s has a *, but the entry's name has none", p.env.shown(b.Model))
	case stars > 1:
		p.bad(path+".model", "%s has more than one *", p.env.shown(b.Model))
	case b.Model == "":
		b.Model = m.Name
	}
}

// template checks where the prompts come from.
func (p *parser) template(path string, b *Backend, c *Config) {
	adapter := c.Adapters[b.Adapter]
	if adapter == nil {
		return // said already
	}
	_, asks := adapter.(adapters.Templater)
	switch {
	case adapter.Traits().Messages && b.Template != "":
		p.bad(path+".template", "has no use: the %s adapter takes messages", b.Adapter)
	case b.Template != "":
		p.templateName(path+".template", b)
	case !adapter.Traits().Messages && !asks:
		p.bad(path, "needs template:, the chat template that turns messages into a prompt for the %s adapter: a .jinja file or a name%s", b.Adapter, yamlstrict.Suggest("", p.shipped.templates))
	}
	p.templateOptions(path, b)
}

func (p *parser) templateName(path string, b *Backend) {
	if ext := filepath.Ext(b.Template); ext == ".jinja" || ext == ".jinja2" {
		b.TemplateFile = p.file(path, b.Template)
		return
	}
	if !slices.Contains(p.shipped.templates, b.Template) {
		p.bad(path, "no template %s and no .jinja file%s", p.env.shown(b.Template), yamlstrict.Suggest(b.Template, p.shipped.templates))
	}
}

// templateOptions refuses settings of a template that is not there.
func (p *parser) templateOptions(path string, b *Backend) {
	for i, set := range []bool{b.Fold != nil, b.BOSToken != "", b.EOSToken != ""} {
		if set && b.Template == "" {
			p.bad(path+"."+[]string{"fold", "bos_token", "eos_token"}[i], "only goes with template:")
		}
	}
}

// parsing checks how the model's text is read.
func (p *parser) parsing(path string, b *Backend) {
	f := func(key, word string, more ...string) {
		words := append([]string{notation.Auto, notation.None}, more...)
		if word != "" && !slices.Contains(words, word) {
			p.bad(path+"."+key, "no %s%s", p.env.shown(word), yamlstrict.Suggest(word, words))
		}
	}
	f("parse", b.Parse, notation.Families()...)
	f("reasoning", b.Reasoning, notation.Tags, notation.Opened)
}

// kept are the fields that no request can do without.
var kept = []string{"model", "messages", "prompt", "stream"}

func (p *parser) fields(path string, b *Backend) {
	for i, name := range b.Drop {
		at := yamlstrict.Index(path+".drop", i)
		switch {
		case slices.Contains(kept, name):
			p.bad(at, "%s cannot be dropped", p.env.shown(name))
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }):
			p.bad(at, "%s is no name of a request field", p.env.shown(name))
		}
	}
}
