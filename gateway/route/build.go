package route

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/prompt"
	"dragoman/adapters/stream"
	"dragoman/gateway/config"
	"dragoman/gateway/sigv4"
)

// newGroup builds the backends of entry. Questions to them end with ctx.
func newGroup(ctx context.Context, c *config.Config, entry *config.Model, o Options) (*group, error) {
	g := &group{entry: entry, now: o.now}
	var errs []error
	for i := range entry.Backends {
		b, err := newBackend(ctx, c, entry, i, o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		g.backends = append(g.backends, b)
	}
	return g, errors.Join(errs...)
}

// newBackend builds the i-th backend of entry.
func newBackend(ctx context.Context, c *config.Config, entry *config.Model, i int, o Options) (*backend, error) {
	cfg, name, path := &entry.Backends[i], entry.Name, entry.Path
	if len(entry.Backends) > 1 {
		name = fmt.Sprintf("%s[%d]", name, i)
		path = fmt.Sprintf("%s.backends[%d]", path, i)
	}
	spoken := c.Adapters[cfg.Adapter]
	if spoken == nil {
		return nil, fmt.Errorf("%s: no adapter %q", path, cfg.Adapter)
	}
	b := &backend{
		name:        name,
		wanted:      cfg.Model,
		weight:      1,
		adapter:     tune(spoken, cfg),
		drop:        dropped(cfg.Drop),
		maxTokens:   cfg.DefaultMaxTokens,
		forwardAuth: cfg.ForwardAuth,
		log:         o.Log.With("model", entry.Name),
	}
	if cfg.Weight != nil {
		b.weight = *cfg.Weight
	}
	b.reader = &reader{tools: cfg.Parse, reasoning: cfg.Reasoning}
	b.fitter, _ = spoken.(adapters.Fitter)
	b.counter, _ = spoken.(adapters.Counter)
	b.embedder, _ = spoken.(adapters.Embedder)
	b.slots = newSlots(cmp.Or(cfg.MaxConcurrent, spoken.Traits().MaxConcurrent))
	var err error
	if cfg.Engine != nil {
		b.child = newChild(cfg, c.FrameLimit, o, b.log)
	} else {
		b.upstream, err = upstream(cfg, cmp.Or(cfg.Controller, cfg.URL), spoken.Traits(), c.FrameLimit, b.log)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if cfg.Controller != "" {
		finder, finds := spoken.(adapters.Finder)
		if !finds {
			return nil, fmt.Errorf("%s: the adapter %q has no controller", path, cfg.Adapter)
		}
		b.controller = &controller{ctx: ctx, finder: finder, up: b.upstream, name: b.name, now: o.now}
	}
	if cfg.AWS != nil {
		b.signer = signer(cfg, spoken.Traits().Signing)
		b.upstream.Sign = b.signer.Sign
	}
	if asked, ok := spoken.(adapters.Templater); ok && cfg.Template == "" {
		b.templates = &templates{ctx: ctx, templater: asked}
	}
	if cfg.Template != "" {
		if b.template, err = chatTemplate(cfg); err != nil {
			return nil, fmt.Errorf("%s.template: %w", path, err)
		}
		b.noTools = !b.reader.callsTools(b.template)
	}
	return b, nil
}

// upstream returns how the backend at url, which is spoken to by traits, is reached.
func upstream(cfg *config.Backend, url string, traits *adapters.Traits, maxFrame int64, log *slog.Logger) (*stream.Upstream, error) {
	client, err := stream.NewClient(stream.ClientOptions{
		URL: url, Connect: cfg.Timeout.Connect, Proxy: cfg.Proxy, HTTP2: traits.Framing == frame.GRPC,
	})
	if err != nil {
		return nil, err
	}
	up := &stream.Upstream{
		URL:      url,
		Header:   http.Header{},
		Client:   client,
		First:    cfg.Timeout.First,
		Idle:     cfg.Timeout.Idle,
		MaxFrame: int(maxFrame),
		Log:      log,
	}
	if cfg.Key != "" {
		setKey(up.Header, traits.KeyHeader, cfg.Key.Reveal())
		up.Secrets = append(up.Secrets, cfg.Key.Reveal())
	}
	for name, value := range cfg.Headers {
		up.Header.Set(name, value.Reveal())
		if value != "" {
			up.Secrets = append(up.Secrets, value.Reveal())
		}
	}
	return up, nil
}

// signer returns what signs the calls to AWS's service.
func signer(cfg *config.Backend, service string) *sigv4.Signer {
	return sigv4.New(sigv4.Options{
		Service: service, Region: cmp.Or(cfg.AWS.Region, sigv4.RegionOf(cfg.URL)), Profile: cfg.AWS.Profile,
		AccessKeyID: cfg.AWS.AccessKeyID.Reveal(), SecretAccessKey: cfg.AWS.SecretAccessKey.Reveal(), SessionToken: cfg.AWS.SessionToken.Reveal(),
	})
}

// chatTemplate returns the template that the configuration names. It has been
// tested: prompt renders a set of conversations before it gives one out.
func chatTemplate(cfg *config.Backend) (adapters.Template, error) {
	o := prompt.Options{BOS: cfg.BOSToken, EOS: cfg.EOSToken, Fold: cfg.Fold == nil || *cfg.Fold}
	for _, token := range []string{cfg.BOSToken, cfg.EOSToken} {
		if token != "" {
			o.Special = append(o.Special, token)
		}
	}
	if cfg.TemplateFile == "" {
		return prompt.NamedWith(cfg.Template, o)
	}
	if cfg.EOSToken != "" {
		o.Stop = []string{cfg.EOSToken}
	}
	return prompt.File(cfg.TemplateFile, o)
}

// tune returns the adapter with the facts that the configuration states otherwise.
func tune(a adapters.Adapter, cfg *config.Backend) adapters.Adapter {
	if cfg.EndTexts == nil && cfg.Cumulative == nil && cfg.EchoPrompt == nil && cfg.EOFIsFinish == nil {
		return a
	}
	t := tuned{Adapter: a, traits: *a.Traits()}
	if cfg.EndTexts != nil {
		t.traits.EndTexts = slices.Clone(cfg.EndTexts)
	}
	for _, f := range []struct {
		fact *bool
		said *bool
	}{{&t.traits.Cumulative, cfg.Cumulative}, {&t.traits.EchoPrompt, cfg.EchoPrompt}, {&t.traits.EOFIsFinish, cfg.EOFIsFinish}} {
		if f.said != nil {
			*f.fact = *f.said
		}
	}
	return &t
}

// tuned is an adapter with other facts.
type tuned struct {
	adapters.Adapter
	traits adapters.Traits
}

func (t *tuned) Traits() *adapters.Traits { return &t.traits }

// close ends what the backend runs and frees its connections.
func (b *backend) close(ctx context.Context) error {
	if b.templates != nil {
		b.templates.running.Wait()
	}
	if b.controller != nil {
		b.controller.running.Wait()
	}
	if b.child != nil {
		return b.child.close(ctx)
	}
	b.upstream.Client.CloseIdleConnections()
	if b.signer != nil {
		return b.signer.Close(ctx)
	}
	return nil
}
