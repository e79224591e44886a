package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"dragoman/adapters/yamlstrict"
)

// Errors is everything that is wrong with a configuration, in the order of its
// lines.
type Errors struct {
	File string // "" if it did not come from a file
	List []*yamlstrict.Error
}

// Error returns one line per error, such as
// config.yaml:7: models.vicuna.url: must begin with http:// or https://, not "x".
func (e *Errors) Error() string {
	lines := make([]string, len(e.List))
	for i, one := range e.List {
		place := e.File
		switch {
		case one.Line > 0 && e.File != "":
			place = fmt.Sprintf("%s:%d", e.File, one.Line)
		case one.Line > 0:
			place = fmt.Sprintf("line %d", one.Line)
		}
		lines[i] = join(place, one.Path, one.Msg)
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single errors.
func (e *Errors) Unwrap() []error {
	errs := make([]error, len(e.List))
	for i, one := range e.List {
		errs[i] = one
	}
	return errs
}

func (e *Errors) sort() {
	slices.SortStableFunc(e.List, func(a, b *yamlstrict.Error) int { return cmp.Compare(a.Line, b.Line) })
}

func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}
