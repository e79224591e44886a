package prompt

import (
	"errors"
	"strings"
	"time"

	"github.com/ardanlabs/jinja"
)

// refusal is what a template says by raise_exception.
type refusal struct{ words string }

func (r *refusal) Error() string { return r.words }

var raiseException = jinja.NewCallable("raise_exception",
	func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
		words := "the chat template refuses the conversation"
		if len(args) > 0 && args[0].IsString() && strings.TrimSpace(args[0].AsString()) != "" {
			words = args[0].AsString()
		}
		return jinja.Undefined(), &refusal{words}
	})

func strftimeNow(now func() time.Time) jinja.Value {
	return jinja.NewCallable("strftime_now",
		func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
			if len(args) != 1 || !args[0].IsString() {
				return jinja.Undefined(), errors.New("strftime_now takes one string")
			}
			return jinja.NewString(strftime(now(), args[0].AsString())), nil
		})
}
