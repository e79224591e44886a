package prompt

import (
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dragoman/adapters"
)

//go:embed templates/*.jinja
var sources embed.FS

// family is what the shipped templates are used with. They put no BOS before
// the prompt unless it is given, as most servers add their own.
type family struct {
	eos  string
	stop []string
}

var families = map[string]family{
	"alpaca":        {stop: []string{"### Instruction:"}},
	"chatml":        {stop: []string{"<|im_end|>"}},
	"command-r":     {stop: []string{"<|END_OF_TURN_TOKEN|>"}},
	"deepseek-chat": {eos: "<｜end▁of▁sentence｜>", stop: []string{"<｜end▁of▁sentence｜>"}},
	"deepseek3":     {eos: "<｜end▁of▁sentence｜>", stop: []string{"<｜end▁of▁sentence｜>"}},
	"gemma":         {stop: []string{"<end_of_turn>"}},
	"llama2":        {eos: "</s>", stop: []string{"</s>"}},
	"llama3":        {stop: []string{"<|eot_id|>"}},
	"mistral":       {eos: "</s>", stop: []string{"</s>"}},
	"phi3":          {stop: []string{"<|end|>"}},
	"plain":         {stop: []string{"\nUser:"}},
	"vicuna":        {eos: "</s>", stop: []string{"</s>"}},
	"zephyr":        {eos: "</s>", stop: []string{"</s>"}},
}

// Names returns the names of the shipped templates in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(families)) }

// Named returns a shipped template, with folding on. The error of an unknown
// name lists the known ones.
func Named(name string) (adapters.Template, error) {
	return NamedWith(name, Options{Fold: true})
}

// NamedWith returns a shipped template with options of your own. EOS and Stop
// are the family's if they are not set.
func NamedWith(name string, o Options) (adapters.Template, error) {
	f, ok := families[name]
	if !ok {
		return nil, fmt.Errorf("unknown chat template %q: known are %s", name, strings.Join(Names(), ", "))
	}
	src, err := sources.ReadFile("templates/" + name + ".jinja")
	if err != nil {
		return nil, fmt.Errorf("reading the shipped chat template: %w", err)
	}
	if o.EOS == "" {
		o.EOS = f.eos
	}
	if o.Stop == nil {
		o.Stop = f.stop
	}
	t, err := compile(string(src), o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}
