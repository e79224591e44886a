package declared

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/yamlstrict"
)

// questions compiles what a backend can be asked about itself.
func (p *parser) questions(s *Spec, src *source) {
	s.traits.Health = p.question("health", &src.Health)
	s.traits.Models = p.question("models", &src.Models)
	if h := &src.Health; h.Path != "" {
		s.traits.Health.Field, s.traits.Health.Is = p.inner("health.state", h.State), h.Is
		if (h.State == "") != (len(h.Is) == 0) {
			p.bad("health", 0, "state and is go together: where the word stands, and which words say that all is well")
		}
		if h.List != "" || h.Name != "" {
			p.bad("health", 0, "list and name are for models")
		}
	}
	if m := &src.Models; m.Path != "" {
		list, name := p.inner("models.list", m.List), p.inner("models.name", m.Name)
		switch {
		case m.List == "":
			s.traits.Models.Field = name
		case m.Name == "":
			s.traits.Models.Field = cmp.Or(list, "@this")
		default:
			s.traits.Models.Field = strings.TrimPrefix(list+".#."+name, ".")
		}
		if m.List == "" && m.Name == "" {
			p.bad("models", 0, "needs list, name or both: where the names stand")
		}
		if m.State != "" || len(m.Is) > 0 {
			p.bad("models", 0, "state and is are for health")
		}
	}
}

func (p *parser) question(key string, src *question) adapters.Question {
	q := adapters.Question{Method: cmp.Or(src.Method, http.MethodGet), Path: src.Path}
	if valid := []string{http.MethodGet, http.MethodPost}; !slices.Contains(valid, q.Method) {
		p.bad(key+".method", 0, "unknown method %q%s", src.Method, yamlstrict.Suggest(src.Method, valid))
	}
	if q.Path != "" && q.Path[0] != '/' {
		p.bad(key+".path", 0, "must begin with /, not be %q", q.Path)
	}
	if q.Path == "" && (src.Method != "" || src.List != "" || src.Name != "" || src.State != "" || len(src.Is) > 0) {
		p.bad(key+".path", 0, "missing")
	}
	return q
}

// inner returns path in gjson's spelling; "" is the whole answer.
func (p *parser) inner(key, path string) string {
	if path == "" {
		return ""
	}
	var parts []string
	for _, step := range p.steps(key, path, 0) {
		parts = append(parts, gjson.Escape(step))
	}
	return strings.Join(parts, ".")
}
