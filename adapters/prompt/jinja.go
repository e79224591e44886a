package prompt

import (
	"fmt"
	"os"
	"time"

	"github.com/ardanlabs/jinja"

	"dragoman/adapters"
)

// Options say what a template needs to know about its model. The zero value
// will do for a backend that takes the prompt as plain text.
type Options struct {
	// BOS and EOS are the texts that the template sees as bos_token and
	// eos_token. A backend that puts its own BOS before the prompt wants BOS
	// empty, or a check that the prompt does not begin with it already.
	BOS, EOS string

	// Special lists the texts of control tokens. Where one stands in what the
	// client sent, the prompt is cut into two pieces in the middle of it, so that
	// no piece holds it. Tokens that models write as text, such as </think>, do
	// not belong here: templates look for them in the messages.
	Special []string

	Stop []string // texts at which the model's turn ends

	// Fold lets Render reshape conversations that the template refuses, or would
	// lose a part of: messages of one role in a row become one, and system
	// messages become part of the next user message. Without it such
	// conversations are refused.
	Fold bool

	Now func() time.Time // the clock of strftime_now; nil is time.Now
}

// Jinja compiles and tests the template src. Its errors name the line, and the
// filter or statement that is at fault.
func Jinja(src string, o Options) (adapters.Template, error) { return compile(src, o) }

// File reads a template from the file at path, and is otherwise like Jinja.
func File(path string, o Options) (adapters.Template, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the chat template: %w", err)
	}
	t, err := compile(string(src), o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

type template struct {
	Options
	source   string // see notation
	compiled *jinja.Template
	guards   *guards
	limits   limits
	breaker  *breaker

	objectArgs bool   // it wants the arguments of tool calls as an object, not as JSON text
	parts      bool   // it wants content as a list of parts
	tools      bool   // it shows the model the tools that are offered
	reasoning  string // what it calls the reasoning of earlier turns
	support    [numShapes]support
	shown      bool // some test rendering had words of its conversation
}

func compile(src string, o Options) (*template, error) {
	t, err := untested(src, o)
	if err != nil {
		return nil, fmt.Errorf("compiling the chat template: %w", err)
	}
	if err := t.probe(); err != nil {
		return nil, fmt.Errorf("testing the chat template: %w", err)
	}
	t.source = t.notation(src)
	return t, nil
}

func untested(src string, o Options) (t *template, err error) {
	defer recovered(&err)
	t = &template{Options: o, guards: newGuards(), limits: defaultLimits, breaker: newBreaker(o.Special, src), reasoning: reasoningNames[0]}
	if t.Now == nil {
		t.Now = time.Now
	}
	source, err := normalize(src, t.guards)
	if err != nil {
		return nil, err
	}
	t.compiled, err = jinja.Compile(source)
	return t, err
}
