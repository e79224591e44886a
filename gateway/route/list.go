package route

import (
	"context"
	"slices"
	"strings"
	"sync"

	"dragoman/gateway/openai"
)

// Models returns what there is to ask for, in the order of the configuration:
// names and aliases, and in the place of a wildcard what its controllers know.
// Other wildcards are not among them. A controller that does not answer soon
// counts with what it said before; ctx ends the wait for it.
func (t *Table) Models(ctx context.Context) []openai.ModelInfo {
	found := make([][]string, len(t.groups))
	var all sync.WaitGroup
	for i, g := range t.groups {
		if g.entry.Wildcard() {
			all.Go(func() { found[i], _ = g.discover(ctx) })
		} else {
			found[i] = append([]string{g.entry.Name}, g.entry.Aliases...)
		}
	}
	all.Wait()
	infos := []openai.ModelInfo{}
	for i, g := range t.groups {
		for _, name := range found[i] {
			if m, err := t.Pick(name); err == nil && m.steps[0].group == g { // else the name is another entry's
				infos = append(infos, t.info(name))
			}
		}
	}
	return infos
}

// Describe returns what Models says of one model, or would if it listed what
// wildcards stand for. The error is an *llm.Error with status 404: no entry takes
// the name, or one does whose controllers do not know it.
func (t *Table) Describe(ctx context.Context, name string) (openai.ModelInfo, error) {
	m, err := t.Pick(name)
	if err != nil {
		return openai.ModelInfo{}, err
	}
	if g := m.steps[0].group; g.entry.Wildcard() {
		if known, all := g.discover(ctx); all && !slices.Contains(known, name) {
			return openai.ModelInfo{}, notFound(name)
		}
	}
	return t.info(name), nil
}

func (t *Table) info(name string) openai.ModelInfo {
	return openai.ModelInfo{ID: name, Created: t.made, OwnedBy: "dragoman"}
}

// discover returns the names that clients can use with a wildcard entry, as far
// as controllers know them, and whether those are all.
func (g *group) discover(ctx context.Context) (names []string, all bool) {
	all = true
	for _, b := range g.backends {
		if b.controller == nil {
			all = false
			continue
		}
		models, heard := b.controller.list(ctx)
		all = all && heard
		before, after, open := strings.Cut(b.wanted, "*")
		for _, model := range models {
			star, ok := strings.CutPrefix(model, before)
			if ok && open {
				star, ok = strings.CutSuffix(star, after)
			}
			if ok && open && star != "" {
				names = append(names, strings.Replace(g.entry.Name, "*", star, 1))
			}
		}
		all = all && open // else every name means the one model
	}
	slices.Sort(names)
	return slices.Compact(names), all
}
