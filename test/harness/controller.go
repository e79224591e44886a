package harness

import (
	"encoding/json"
	"sync"
	"testing"
)

// Controller is a fake FastChat controller. A test fails if it is asked for more
// than a gateway needs: /refresh_all_workers would freeze a true one.
type Controller struct {
	*Backend
	mu      sync.Mutex
	workers map[string][]string
	instead *Reply
}

// NewController starts a controller that knows no model. It ends with the test.
func NewController(t testing.TB) *Controller {
	c := &Controller{workers: map[string][]string{}}
	c.Backend = NewBackend(t, c.reply)
	return c
}

// Serve sets the workers of a model, by their addresses; none: the model is gone.
func (c *Controller) Serve(model string, addresses ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.workers[model] = addresses; len(addresses) == 0 {
		delete(c.workers, model)
	}
}

// Instead makes the controller answer everything with r; nil ends that.
func (c *Controller) Instead(r *Reply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instead = r
}

func (c *Controller) reply(r Received) Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.Path != "/get_worker_address" && r.Path != "/list_models" || r.Method != "POST":
		c.t.Errorf("the controller got %s %s", r.Method, r.Path)
		return Reply{Status: 404, Unframed: true, Body: `{"detail":"Not Found"}`}
	case c.instead != nil:
		return *c.instead
	case r.Path == "/list_models":
		names := []string{}
		for name := range c.workers {
			names = append(names, name)
		}
		body, _ := json.Marshal(map[string][]string{"models": names})
		return Reply{Unframed: true, Body: string(body)}
	}
	var ask struct{ Model string }
	if err := json.Unmarshal([]byte(r.Body), &ask); err != nil {
		c.t.Errorf("the controller got %s: %v", r.Body, err)
	}
	address := ""
	if all := c.workers[ask.Model]; len(all) > 0 { // the shortest queue is that of whoever was not named for longest
		address = all[0]
		c.workers[ask.Model] = append(all[1:len(all):len(all)], address)
	}
	body, _ := json.Marshal(map[string]string{"address": address})
	return Reply{Unframed: true, Body: string(body)}
}
