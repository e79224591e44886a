package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"dragoman/adapters/yamlstrict"
)

// Load reads and checks the file at path. Files that it names are found from
// its folder. A content that cannot be used is an *Errors with all that is wrong.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration: %w", err)
	}
	return parse(data, path, filepath.Dir(path), theShipped())
}

// Parse checks a configuration that is no file. Files that it names are found
// from the working directory.
func Parse(data []byte) (*Config, error) { return parse(data, "", ".", theShipped()) }

func parse(data []byte, file, dir string, s shipped) (*Config, error) {
	p := &parser{errs: Errors{File: file}, dir: dir, env: newEnvironment(), shipped: s}
	cfg := p.document(data)
	if len(p.errs.List) > 0 {
		p.errs.sort()
		return nil, &p.errs
	}
	return cfg, nil
}

// parser collects what is wrong while a document becomes a Config.
type parser struct {
	errs    Errors
	dir     string
	env     *environment
	lines   map[string]int // path -> line
	shipped shipped
	broken  []string // names of declared adapters with errors of their own
}

// document returns nil, or a Config that means nothing, if it reported errors.
func (p *parser) document(data []byte) *Config {
	root := p.read(data)
	if root == nil {
		return nil
	}
	p.lines = map[string]int{}
	p.index(root, "")
	for i := 0; i+1 < len(root.Content); i += 2 {
		// An adapter's texts are its protocol's, where ${ may well mean something.
		if root.Content[i].Value != "adapters" {
			p.env.expand(root.Content[i+1], root.Content[i].Value, p.bad)
		}
	}
	w := asDefault()
	p.decode(root, "", &w)
	return p.check(&w)
}

// read returns the one mapping that data must hold.
func (p *parser) read(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		p.bad("", "is empty; it needs models:, such as models: {stories: {engine: {model: \"builtin:stories\"}}}")
		return nil
	case err != nil:
		p.syntax(err)
		return nil
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		if err != nil {
			p.syntax(err)
		} else {
			p.errs.List = append(p.errs.List, &yamlstrict.Error{Line: next.Line, Msg: "a second document begins here; a configuration is one document"})
		}
		return nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" {
		p.bad("", "is empty; it needs models:, such as models: {stories: {engine: {model: \"builtin:stories\"}}}")
		return nil
	}
	if root.Kind != yaml.MappingNode {
		p.decode(root, "", &written{}) // for its complaint
		return nil
	}
	return root
}

var yamlErrorLine = regexp.MustCompile(`^yaml: line (\d+): (.*)`)

// syntax reports an error of the YAML library.
func (p *parser) syntax(err error) {
	e := &yamlstrict.Error{Msg: "is not valid YAML: " + err.Error()}
	if m := yamlErrorLine.FindStringSubmatch(err.Error()); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Msg = "is not valid YAML: " + m[2]
	}
	if strings.Contains(e.Msg, "cannot start any token") {
		e.Msg += "; lines are indented with spaces, not tabs"
	}
	p.errs.List = append(p.errs.List, e)
}

// index notes the line of every key and element below n.
func (p *parser) index(n *yaml.Node, path string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			at := yamlstrict.Key(path, n.Content[i].Value)
			p.lines[at] = n.Content[i].Line
			p.index(n.Content[i+1], at)
		}
	case yaml.SequenceNode:
		for i, c := range n.Content {
			at := yamlstrict.Index(path, i)
			p.lines[at] = c.Line
			p.index(c, at)
		}
	}
}
