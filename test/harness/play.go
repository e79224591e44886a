package harness

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dragoman/adapters/builtin"
)

// Case is one backend answer and what the client must see of it.
type Case struct {
	Adapter string // a shipped adapter; those that take a prompt get the template chatml
	Options string // further members of the model's configuration, such as "echo_prompt: true"
	Adapts  string // the configuration's adapters section, for a dialect of the test's own
	Script  string // the backend's answer, see parse
	Whole   string // its answer to a non-stream request, if the adapter asks for one; "" is Script
	Ask     string // further members of the request, such as `"stop":["x"]`

	Shape  string // see Stream.Shape
	Text   string // of choice 0
	Status int    // of the non-stream answer; 0 is 200
	Check  func(t *testing.T, s *Stream)
}

// Config returns the configuration of a gateway with one model m.
func (c Case) Config(url string) string {
	options := c.Options
	shipped := builtin.All()[c.Adapter]
	if (shipped == nil || !shipped.Traits().Messages) && !strings.Contains(options, "template:") {
		options += ", template: chatml"
	}
	if options != "" && !strings.HasPrefix(options, ",") {
		options = ", " + options
	}
	return fmt.Sprintf("models: {m: {adapter: %s, url: %q%s}}\n%s", c.Adapter, url, options, c.Adapts)
}

// Play sends the script at every delivery to a streaming client and compares,
// then checks that a non-stream client gets the same text.
func Play(t *testing.T, c Case) {
	t.Helper()
	backend := NewBackend(t, func(r Received) Reply {
		if c.Whole != "" && !strings.Contains(r.Body, `"stream":true`) {
			return Reply{Body: c.Whole, Header: map[string]string{"Content-Type": "application/json"}}
		}
		return Reply{Body: c.Script}
	})
	base := Gateway(t, c.Config(backend.URL))
	usage := strings.Contains(c.Ask, `"include_usage":true`)
	for _, how := range Deliveries {
		t.Run(string(how), func(t *testing.T) {
			backend.Deliver(how)
			answer := Chat(t, base, join(`"stream":true`, c.Ask))
			if strings.HasPrefix(c.Shape, "HTTP ") {
				if got := fmt.Sprint("HTTP ", answer.Status); got != c.Shape {
					t.Errorf("got %s, want %s: %s", got, c.Shape, answer.Body)
				}
				answer.Error(t)
				return
			}
			s := answer.Check(t, usage)
			s.Want(t, c.Shape, c.Text)
			if c.Check != nil {
				c.Check(t, s)
			}
		})
	}
	t.Run("not streamed", func(t *testing.T) {
		backend.Deliver(AsWritten)
		answer := Chat(t, base, c.Ask)
		if want := max(c.Status, http.StatusOK); answer.Status != want {
			t.Fatalf("status %d, want %d: %s", answer.Status, want, answer.Body)
		}
		if answer.Status != http.StatusOK {
			answer.Error(t)
			return
		}
		if text := answer.Content(t); text != c.Text {
			t.Errorf("got %q, want %q", text, c.Text)
		}
	})
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "," + b
}
