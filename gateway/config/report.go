package config

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"dragoman/adapters/yamlstrict"
)

// bad reports what is wrong at path.
func (p *parser) bad(path, format string, args ...any) {
	p.errs.List = append(p.errs.List, &yamlstrict.Error{Path: path, Line: p.line(path), Msg: fmt.Sprintf(format, args...)})
}

// line returns where path stands, or the nearest thing around it; 0 if nothing does.
func (p *parser) line(path string) int {
	for path != "" && p.lines[path] == 0 {
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	return p.lines[path]
}

// decode fills into from n and reports what does not fit.
func (p *parser) decode(n *yaml.Node, path string, into any) {
	if n.Kind != 0 { // 0: the key is absent
		p.report(path, yamlstrict.Decode(n, path, into))
	}
}

// secretPath matches the places of secrets, whose values no message shows.
var secretPath = regexp.MustCompile(`(^|\.)(keys?|headers|access_key_id|secret_access_key|session_token)($|[.[])`)

// report takes over errors of other packages.
func (p *parser) report(path string, errs []error) {
	for _, err := range errs {
		one := (*yamlstrict.Error)(nil)
		if !errors.As(err, &one) {
			p.bad(path, "%v", err)
			continue
		}
		e := *one
		e.Line = cmp.Or(e.Line, p.line(e.Path))
		e.Msg = p.env.hide(e.Line, e.Msg)
		if secretPath.MatchString(e.Path) {
			e.Msg, _, _ = strings.Cut(e.Msg, ", not ")
		}
		p.errs.List = append(p.errs.List, &e)
	}
}
