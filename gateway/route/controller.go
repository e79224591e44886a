package route

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/openai"
)

const (
	// findTimeout bounds the question which server is to answer a request.
	findTimeout = 30 * time.Second
	// listTimeout bounds the question which models there are, and how long a list
	// of models waits for it.
	listTimeout = 2 * time.Second
	// listFresh is how long that is not asked again.
	listFresh = 10 * time.Second
)

// controller is the way to servers that one of their own knows. Which of them
// answers is asked for each request; which models there are only when a client
// wants to know, by one question for all who do at the same time.
type controller struct {
	ctx     context.Context // ends with the table
	finder  adapters.Finder
	up      *stream.Upstream // the controller's own
	name    string           // its place in the configuration, for logs
	now     func() time.Time
	running sync.WaitGroup

	mu     sync.Mutex
	models []string      // as they were heard last, sorted
	heard  bool          // they ever were
	told   chan struct{} // closed when the latest question for them is over; nil: none was asked
	asking bool          // it is not over
	asked  time.Time     // when it was over
}

// find returns the way to the server that is to answer. up is the way to the
// controller as the request has it; the client calls the model asked, the
// controller calls it model.
func (c *controller) find(ctx context.Context, up *stream.Upstream, asked, model string) (*stream.Upstream, error) {
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	address, err := c.finder.Find(ctx, stream.Asker(up), model)
	if err != nil {
		return nil, err
	}
	if address == "" {
		return nil, c.nobody(ctx, up, asked, model)
	}
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return nil, llm.Upstream(http.StatusBadGateway, "", "The controller names a server by what is no HTTP address.")
	}
	return up.At(address), nil
}

// nobody returns the error for a model that no server answers for.
func (c *controller) nobody(ctx context.Context, up *stream.Upstream, asked, model string) error {
	models, err := c.finder.Models(ctx, stream.Asker(up))
	switch {
	case err != nil:
		return err
	case slices.Contains(models, model):
		return llm.Upstream(http.StatusServiceUnavailable, "", "No server is free to answer for the model %s.", openai.Quote(asked))
	}
	return notFound(asked)
}

// list returns the models that the controller knew when it last said so, by its
// own names, and whether it ever did. ctx ends the wait for it.
func (c *controller) list(ctx context.Context) (models []string, heard bool) {
	select {
	case <-c.ask():
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.models, c.heard
}

// ask has the controller asked for its models, unless that is under way or not
// long ago. The channel is closed when there is nothing to wait for.
func (c *controller) ask() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told != nil && (c.asking || c.now().Sub(c.asked) < listFresh) {
		return c.told
	}
	told := make(chan struct{})
	c.told, c.asking = told, true
	c.running.Go(func() {
		defer close(told)
		ctx, cancel := context.WithTimeout(c.ctx, listTimeout)
		defer cancel()
		models, err := c.finder.Models(ctx, stream.Asker(c.up))
		if err != nil && c.ctx.Err() == nil {
			c.up.Log.Warn("a controller does not list its models", "backend", c.name, "cause", err)
		}
		c.hear(models, err)
	})
	return told
}

// hear takes over the answer to ask's question. After a failure, what was heard
// before is still the best that is known.
func (c *controller) hear(models []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asking, c.asked = false, c.now()
	if err == nil {
		slices.Sort(models)
		c.models, c.heard = slices.Compact(models), true
	}
}
