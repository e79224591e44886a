package serve

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"dragoman/engine/grammar"
	"dragoman/engine/sample"
)

// maxParam bounds the path of a part of a schema, where it names what is wrong;
// the message has any path.
const maxParam = 60

// form returns the grammar that the answer shall keep to; nil is none.
func (b *generateBody) form() (*grammar.Grammar, *problem) {
	schema := b.JSONSchema
	if string(schema) == "null" {
		schema = nil
	}
	switch {
	case b.JSON && (schema != nil || b.Grammar != nil):
		return nil, wrong("json", "json is there together with json_schema or grammar")
	case schema != nil && b.Grammar != nil:
		return nil, wrong("grammar", "grammar is there together with json_schema")
	case b.JSON:
		return grammar.Object(), nil
	case b.Grammar != nil:
		g, err := grammar.Parse(*b.Grammar)
		if err != nil {
			return nil, wrong("grammar", "Invalid grammar: %s.", clip(err.Error()))
		}
		return g, nil
	case schema != nil:
		return jsonSchema(schema)
	}
	return nil, nil
}

func jsonSchema(schema json.RawMessage) (*grammar.Grammar, *problem) {
	g, err := grammar.Schema(schema)
	if err == nil {
		return g, nil
	}
	param := "json_schema"
	if e, ok := errors.AsType[*grammar.SchemaError](err); ok && isWord(e.Path) {
		param += "." + e.Path
	}
	return nil, wrong(param, "Invalid schema: %s.", clip(err.Error()))
}

// Bounds of the texts behind which a form may begin.
const (
	maxAfter     = 16
	maxAfterText = 100 // bytes
)

// filter returns the filter of an answer of that form.
func (s *Server) filter(form *grammar.Grammar, after []string) (sample.Filter, *problem) {
	if len(after) > maxAfter || slices.ContainsFunc(after, func(text string) bool { return text == "" || len(text) > maxAfterText }) {
		return nil, wrong("after", "after is a list of up to %d texts, of 1 to %d bytes", maxAfter, maxAfterText)
	}
	m := form.NewMatcher(s.vocabulary())
	if err := m.Err(); err != nil {
		return nil, wrong("grammar", "%s", err.Error())
	}
	if len(after) == 0 {
		return m, nil
	}
	return grammar.NewGate(m, after, func(dst []byte, id int32) []byte {
		if name := s.vocab.Special(id); name != "" {
			return append(dst, name...)
		}
		return s.vocab.Piece(dst, id)
	}), nil
}

// isWord reports whether a path is short and has nothing but letters, digits and
// signs.
func isWord(path string) bool {
	return path != "" && len(path) <= maxParam && !strings.ContainsFunc(path, func(r rune) bool { return r <= ' ' || r > '~' })
}

// words returns the vocabulary as grammars need it. Control tokens are no part
// of any text; nor are the added words that look like them.
func (s *Server) words() *grammar.Vocabulary {
	return grammar.NewVocabulary(s.vocab.Size(), func(dst []byte, id int32) []byte {
		if s.vocab.Special(id) != "" {
			return dst
		}
		return s.vocab.Piece(dst, id)
	}, s.vocab.Ends())
}
