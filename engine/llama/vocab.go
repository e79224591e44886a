package llama

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"dragoman/engine/prompt"

	"github.com/hybridgroup/yzma/pkg/llama"
	"github.com/jupiterrider/ffi"
)

// readVocab collects what is asked for often.
func (m *Model) readVocab() {
	m.vocab = llama.ModelGetVocab(m.model)
	m.vocabSize = int(llama.VocabNTokens(m.vocab))
	m.suppress = slices.Clone(llama.VocabGetSuppressTokens(m.vocab))
	m.specialIDs = make(map[int32]string)
	const parsed = llama.TokenAttrControl | llama.TokenAttrUnknown
	for id := range llama.Token(m.vocabSize) {
		attr := llama.VocabGetAttr(m.vocab, id)
		text := ""
		if attr&(parsed|llama.TokenAttrUserDef) != 0 {
			text = llama.VocabGetText(m.vocab, id)
		}
		if llama.VocabIsEOG(m.vocab, id) {
			m.ends = append(m.ends, int32(id))
		}
		if text != "" && (attr&parsed != 0 || markup(text)) {
			m.specialIDs[int32(id)] = text
			m.specials = append(m.specials, prompt.Special{
				Text: text, ID: int32(id),
				TrimLeft:  attr&llama.TokenAttrLstrip != 0,
				TrimRight: attr&llama.TokenAttrRstrip != 0,
			})
		}
	}
	m.splitter = prompt.NewSplitter(m.specials)
}

// markup reports whether a token that its file calls an ordinary added word
// looks like a turn marker. Some files give <|user|> and its like that type.
func markup(text string) bool {
	return len(text) > 4 && strings.HasPrefix(text, "<|") && strings.HasSuffix(text, "|>")
}

// SpecialTexts returns the texts of the tokens that only special pieces make.
func (m *Model) SpecialTexts() []string {
	texts := make([]string, 0, len(m.specials))
	for _, c := range m.specials {
		texts = append(texts, c.Text)
	}
	return texts
}

// BOS returns the token that begins every text, -1 if the model has none, and
// whether the model wants it to be added.
func (m *Model) BOS() (id int32, add bool) {
	id = int32(llama.VocabBOS(m.vocab))
	return id, id >= 0 && llama.VocabGetAddBOS(m.vocab)
}

// EOS returns the token that ends a text, -1 if the model has none.
func (m *Model) EOS() int32 { return int32(llama.VocabEOS(m.vocab)) }

// Text returns the text that stands for a token in the vocabulary, "" for an
// unknown one. It is the spelling of a control token, not what is generated.
func (m *Model) Text(id int32) string { return llama.VocabGetText(m.vocab, llama.Token(id)) }

// Tokenize turns a prompt into tokens, without a BOS of its own.
func (m *Model) Tokenize(pieces []prompt.Piece) ([]int32, error) {
	var tokens []int32
	for _, part := range m.splitter.Split(pieces) {
		if part.Text == "" {
			tokens = append(tokens, part.ID)
			continue
		}
		run, err := m.tokenizePlain(part.Text)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, run...)
	}
	return tokens, nil
}

// tokenizePlain reads text in which nothing is a special token. llama.cpp
// still takes added words for what they spell, turn markers among them (see
// markup), and then the text is read again, in parts that spell none.
func (m *Model) tokenizePlain(text string) ([]int32, error) {
	tokens, err := m.tokenize(text)
	if err != nil || !slices.ContainsFunc(tokens, m.isSpecial) {
		return tokens, err
	}
	tokens = nil
	for _, t := range m.splitter.Break(text) {
		run, err := m.tokenize(t)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, run...)
	}
	return tokens, nil
}

func (m *Model) isSpecial(id int32) bool { return m.specialIDs[id] != "" }

// Special implements serve.Vocab.
func (m *Model) Special(id int32) string { return m.specialIDs[id] }

// Size implements serve.Vocab.
func (m *Model) Size() int { return m.vocabSize }

// tokenize reads a run of plain text. The binding's own Tokenize hands a null
// pointer to C for text with a NUL byte, and tokenizes everything twice.
func (m *Model) tokenize(text string) ([]int32, error) { return m.tokenizeAs(text, 0) }

// tokenizeAs adds what the model wants around a text if add is 1.
func (m *Model) tokenizeAs(text string, add uint8) ([]int32, error) {
	var no uint8
	size := int32(len(text))
	p := unsafe.StringData(text)
	tokens := make([]int32, len(text)+2) // a token is a byte at least, and there may be a space before
	for {
		to, room := unsafe.SliceData(tokens), int32(len(tokens))
		var result ffi.Arg
		tokenizeFunc.Call(unsafe.Pointer(&result), unsafe.Pointer(&m.vocab), unsafe.Pointer(&p), unsafe.Pointer(&size),
			unsafe.Pointer(&to), unsafe.Pointer(&room), unsafe.Pointer(&add), unsafe.Pointer(&no))
		n := int32(result)
		runtime.KeepAlive(text)
		if n >= 0 {
			return tokens[:n], nil
		}
		if n = -n; n <= room {
			return nil, errors.New("llama.cpp could not tokenize the prompt")
		}
		tokens = make([]int32, n)
	}
}

// Piece appends the bytes that a generated token stands for to dst: nothing
// for a control token. They may be a part of a rune.
func (m *Model) Piece(dst []byte, id int32) []byte {
	room := 64
	for {
		dst = slices.Grow(dst, room)
		n := int(llama.TokenToPiece(m.vocab, llama.Token(id), dst[len(dst):len(dst)+room], 0, false))
		if n >= 0 {
			return dst[:len(dst)+n]
		}
		room = -n
	}
}
