package fakellama

import (
	"slices"

	"dragoman/engine/prompt"
)

// The control tokens follow the 256 bytes.
const (
	BOS     = 256 + iota // <s>
	EOS                  // </s>
	IMStart              // <|im_start|>
	IMEnd                // <|im_end|>, which ends an answer as EOS does
	vocabSize
)

// Specials are the control tokens and their spellings.
var Specials = []prompt.Special{
	{Text: "<s>", ID: BOS}, {Text: "</s>", ID: EOS}, {Text: "<|im_start|>", ID: IMStart}, {Text: "<|im_end|>", ID: IMEnd},
}

// specials returns all control tokens: Specials, and those of Control.
func (m *Model) specials() []prompt.Special {
	all := slices.Clone(Specials)
	for i, text := range m.Control {
		all = append(all, prompt.Special{Text: text, ID: int32(vocabSize + i)})
	}
	return all
}

// said returns the tokens of a reply.
func (m *Model) said(text string) []int32 {
	return tokens(m.specials()[len(Specials):], []prompt.Piece{{Text: text, Special: true}})
}

// tokens turns pieces into tokens.
func tokens(specials []prompt.Special, pieces []prompt.Piece) []int32 {
	var ids []int32
	for _, part := range prompt.NewSplitter(specials).Split(pieces) {
		if part.Text == "" {
			ids = append(ids, part.ID)
		}
		for i := range len(part.Text) {
			ids = append(ids, int32(part.Text[i]))
		}
	}
	return ids
}

// Tokenize implements serve.Vocab.
func (m *Model) Tokenize(pieces []prompt.Piece) ([]int32, error) {
	return tokens(m.specials(), pieces), nil
}

// Piece implements serve.Vocab.
func (m *Model) Piece(dst []byte, id int32) []byte {
	if id < BOS {
		dst = append(dst, byte(id))
	}
	return dst
}

// Special implements serve.Vocab.
func (m *Model) Special(id int32) string {
	if at := int(id) - BOS; at >= 0 && int(id) < m.Size() {
		return m.specials()[at].Text
	}
	return ""
}

// Size implements serve.Vocab.
func (m *Model) Size() int { return vocabSize + len(m.Control) }

// spell is the text of a prompt, control tokens included.
func (m *Model) spell(ids []int32) string {
	var text []byte
	for _, id := range ids {
		text = append(m.Piece(text, id), m.Special(id)...)
	}
	return string(text)
}
