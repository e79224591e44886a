package parse

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// The words of a configuration, beside the names of families.
const (
	Auto   = "auto"   // what the chat template tells
	None   = "none"   // the text is left alone
	Tags   = "tags"   // reasoning: an answer may begin with any known tag
	Opened = "opened" // reasoning: an answer begins with it, without a tag
)

// Families returns the names of the families of tool calls.
func Families() []string {
	var names []string
	for i := range families {
		names = append(names, families[i].name)
	}
	slices.Sort(names)
	return names
}

// Format is how a model writes. It is read-only. The zero value leaves the text
// alone.
type Format struct {
	family *family
	tags   []tag
	opened bool
	plain  bool // reasoning is left alone
}

// New returns the format that a configuration names: tools is Auto, None or a
// family, reasoning is Auto, None, Tags or Opened; "" is Auto. Auto is found in
// the source of a chat template, and is nothing without one.
func New(source, tools, reasoning string) *Format {
	f := &Format{opened: reasoning == Opened}
	for i := range families {
		if fam := &families[i]; tools == fam.name || isAuto(tools) && holdsAny(source, fam.signs) {
			f.family = fam
			break
		}
	}
	if reasoning == None || tools == None && isAuto(reasoning) {
		f.plain = true
		return f
	}
	if f.family != nil {
		f.tags = f.family.tags
	}
	for _, t := range tags {
		if !isAuto(reasoning) || strings.Contains(source, t.open) || strings.Contains(source, t.end) {
			f.tags = append(slices.Clip(f.tags), t)
		}
	}
	return f
}

func isAuto(word string) bool { return word == "" || word == Auto }

func holdsAny(source string, signs []string) bool {
	return slices.ContainsFunc(signs, func(s string) bool { return strings.Contains(source, s) })
}

// Tools reports whether the notation of tool calls is known.
func (f *Format) Tools() bool { return f.family != nil }

// Plan is how the answers to one request are read. It is read-only.
type Plan struct {
	Format
	tools    map[string]schema // that the request offers
	forms    []form
	headers  []string
	ends     []string
	shortIDs bool
	markers  []string  // what may begin within an answer's text
	first    [256]bool // the bytes with which those begin
}

// Plan returns how to read the answers to req; nil leaves them alone. opened
// says that the prompt ends within reasoning.
func (f *Format) Plan(req *llm.Request, opened bool) *Plan {
	p := &Plan{Format: *f}
	if p.opened = !f.plain && (f.opened || opened); p.opened && len(p.tags) == 0 {
		p.tags = tags
	}
	if f.family != nil {
		if !f.plain {
			p.headers, p.ends = f.family.headers, f.family.ends
		}
		if mode, _ := adapters.FunctionChoice(req); mode != "none" {
			p.tools = offered(req)
		}
		if len(p.tools) > 0 {
			p.forms, p.shortIDs = f.family.forms, f.family.shortIDs
		}
	}
	if len(p.tags) == 0 && len(p.forms) == 0 {
		return nil
	}
	for _, form := range p.forms {
		if !form.start {
			p.markers = append(p.markers, form.section, form.open)
		}
	}
	p.markers = slices.DeleteFunc(append(p.markers, p.ends...), func(s string) bool { return s == "" })
	for _, m := range p.markers {
		p.first[m[0]] = true
	}
	return p
}

// Texts returns all texts that the parser looks for, each once.
func (p *Plan) Texts() []string {
	var all []string
	add := func(texts ...string) {
		for _, s := range texts {
			if s != "" && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	for _, t := range p.tags {
		add(t.open, t.end)
	}
	add(p.headers...)
	add(p.ends...)
	for _, f := range p.forms {
		add(f.section, f.open, f.until)
		add(f.ends...)
		if t := f.tags; t != nil {
			add(t.afterName, t.key, t.keyEnd, t.value, t.end, t.callEnd)
		}
	}
	return all
}

// Begins returns the texts behind which the answer's own text begins; nil is at
// once, as far as it is known before.
func (p *Plan) Begins() []string {
	if p.opened {
		return p.closers()
	}
	return p.headers
}

// NewParser returns the parser of one choice.
func (p *Plan) NewParser() *Parser {
	parser := &Parser{plan: p, fresh: true, mode: begin}
	if p.opened {
		parser.mode = opened
	}
	return parser
}

// closers returns what may end reasoning that the prompt began.
func (p *Plan) closers() []string {
	ends := make([]string, len(p.tags))
	for i := range p.tags {
		ends[i] = p.tags[i].end
	}
	return ends
}

// offered returns the tools of a request by name.
func offered(req *llm.Request) map[string]schema {
	all := map[string]schema{}
	for _, f := range adapters.Functions(req) {
		s := schema{}
		gjson.GetBytes(f.Parameters, "properties").ForEach(func(key, value gjson.Result) bool {
			if kind := value.Get("type"); kind.Type == gjson.String {
				s[key.Str] = kind.Str == "string"
			}
			return true
		})
		all[f.Name] = s
	}
	return all
}
