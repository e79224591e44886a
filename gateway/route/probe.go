package route

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"dragoman/adapters/stream"
)

// probeLimit is how long a backend may take to say whether it is there. One that
// hangs is found out in that time, and not in what an answer may take.
const probeLimit = 5 * time.Second

// Probed is what a backend said of itself.
type Probed struct {
	Backend string // its place in the configuration: vicuna, or vicuna[1] of several
	Adapter string
	Engine  bool          // one that the gateway starts itself: it is not asked
	Silent  bool          // nothing tells: its protocol has no question for it
	Err     error         // why it cannot take requests; nil if it can
	Took    time.Duration // to answer
	Models  []string      // that it says it has
	Lacks   string        // the model that it is configured for, if it is not among Models
}

// Probe asks every backend how it is and which models it has, all at once, each
// for a few seconds at most. The result is in the order of the configuration.
func (t *Table) Probe(ctx context.Context) []Probed {
	var all []Probed
	var backends []*backend
	for _, g := range t.groups {
		for i, b := range g.backends {
			all = append(all, Probed{Backend: b.name, Adapter: g.entry.Backends[i].Adapter})
			backends = append(backends, b)
		}
	}
	var asked sync.WaitGroup
	for i, b := range backends {
		asked.Go(func() { b.probe(ctx, &all[i]) })
	}
	asked.Wait()
	return all
}

// probe fills in p.
func (b *backend) probe(ctx context.Context, p *Probed) {
	if p.Engine = b.child != nil; p.Engine {
		return
	}
	traits := b.adapter.Traits()
	if p.Silent = b.controller == nil && traits.Health.Path == "" && traits.Models.Path == ""; p.Silent {
		return
	}
	ask := stream.Asker(quick(b.upstream))
	start := time.Now()
	if b.controller != nil { // it answers for its servers
		p.Models, p.Err = b.controller.finder.Models(ctx, ask)
	} else if p.Err = traits.CheckHealth(ctx, ask); p.Err == nil {
		p.Models, p.Err = traits.ListModels(ctx, ask)
	}
	p.Took = time.Since(start)
	if len(p.Models) > 0 && !strings.Contains(b.wanted, "*") && !slices.ContainsFunc(p.Models, func(name string) bool { return isNamed(name, b.wanted) }) {
		p.Lacks = b.wanted
	}
}

// isNamed reports whether a backend that lists name serves what the
// configuration calls wanted: Gemini lists models/NAME, Ollama NAME:latest.
func isNamed(name, wanted string) bool {
	return name == wanted || strings.HasSuffix(name, "/"+wanted) || name == wanted+":latest"
}

// quick returns up with a short limit.
func quick(up *stream.Upstream) *stream.Upstream {
	own := *up
	if own.First == 0 || own.First > probeLimit {
		own.First = probeLimit
	}
	return &own
}

// wellAgain asks a backend that has failed how it is, before a client's request
// is risked on it.
func (b *backend) wellAgain(ctx context.Context, up *stream.Upstream) error {
	if b.child != nil || !b.health.failing() {
		return nil
	}
	return b.adapter.Traits().CheckHealth(ctx, stream.Asker(quick(up)))
}
