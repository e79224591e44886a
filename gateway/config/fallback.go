package config

import (
	"slices"
	"strings"

	"dragoman/adapters/yamlstrict"
)

// fallbacks checks that each fallback is another model, and none leads back.
func (p *parser) fallbacks(models []Model) {
	var names []string // that may stand in a list
	for i := range models {
		if !models[i].Wildcard() {
			names = append(append(names, models[i].Name), models[i].Aliases...)
		}
	}
	slices.Sort(names)
	next := make([][]int, len(models)) // by model, what its fallbacks are; -1 is unknown
	for i := range models {
		m := &models[i]
		for j, name := range m.Fallback {
			to := find(models, name)
			at := yamlstrict.Index(yamlstrict.Key(m.Path, "fallback"), j)
			switch {
			case strings.Contains(name, "*"):
				p.bad(at, "%s: a fallback is one model, without *", p.env.shown(name))
				to = -1
			case to < 0:
				p.bad(at, "no model %s%s", p.env.shown(name), yamlstrict.Suggest(name, names))
			case slices.Contains(next[i], to):
				p.bad(at, "%s is in the list already", p.env.shown(name))
				to = -1
			}
			next[i] = append(next[i], to)
		}
	}
	p.circles(models, next)
}

// circles reports fallbacks that lead back, each circle at its first model.
func (p *parser) circles(models []Model, next [][]int) {
	for i := range models {
		for j, to := range next[i] {
			way := wayBack(next, i, to, make([]bool, len(models)))
			if way == nil || slices.Min(way) < i {
				continue
			}
			said := models[i].Name
			for _, k := range way {
				said += " -> " + models[k].Name
			}
			at := yamlstrict.Index(yamlstrict.Key(models[i].Path, "fallback"), j)
			p.bad(at, "leads back to where it began: %s", p.env.shown(said))
		}
	}
}

// find returns the index of the model that a client means by name, or -1: as a
// name or alias, else by the longest wildcard.
func find(models []Model, name string) int {
	best := -1
	for i := range models {
		m := &models[i]
		if !m.Wildcard() {
			if m.Name == name || slices.Contains(m.Aliases, name) {
				return i
			}
			continue
		}
		star, ok := strings.CutPrefix(name, strings.TrimSuffix(m.Name, "*"))
		if ok && star != "" && (best < 0 || len(m.Name) > len(models[best].Name)) {
			best = i
		}
	}
	return best
}

// wayBack returns the models from the fallback at to the model home, or nil if
// there is no such way. seen are those that were tried in vain.
func wayBack(next [][]int, home, at int, seen []bool) []int {
	if at < 0 || seen[at] {
		return nil
	}
	if at == home {
		return []int{home}
	}
	seen[at] = true
	for _, to := range next[at] {
		if way := wayBack(next, home, to, seen); way != nil {
			return append([]int{at}, way...)
		}
	}
	return nil
}
