// Package fakellama is a model for tests that needs no llama.cpp. Its tokens
// are bytes and a few control tokens, and what it answers is up to the test.
// It is strict where llama.cpp would be silently wrong: a batch that misplaces
// a token is an error.
package fakellama

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"dragoman/engine/sched"
)

// ChatTemplate is the ChatML template.
const ChatTemplate = `{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`

// Model is a fake model. The zero value answers every prompt with nothing.
// Set its fields before use.
type Model struct {
	// Reply gives the answer to a prompt, whose control tokens are spelled out.
	Reply func(prompt string) string
	// Weigh, if set, chooses the logits after the tokens of a sequence instead.
	// They are all 0 before.
	Weigh func(tokens []int32, logits []float32)
	// Control are further control tokens, by their spellings; a Reply that holds
	// one says that token.
	Control []string
	// OnDecode, if set, is called with each batch before it is decoded. It may
	// block, to hold the model at a step, and its error is Decode's.
	OnDecode func(batch []sched.Item) error
	// OnEmbed is the same for batches of embeddings.
	OnEmbed func(inputs [][]int32) error
	// Recurrent makes it a model that cannot forget the end of a sequence alone.
	Recurrent bool

	mu     sync.Mutex
	seqs   map[int]*sequence
	logits [][]float32 // of the last batch, by item
	copied bool        // a copy waits for the next Decode
}

// sequence is what the model remembers of one.
type sequence struct {
	tokens []int32
	reply  []int32 // what is still to come; nil before the prompt has been read
	said   int32   // the latest of the reply
}

// Decode implements sched.Model.
func (m *Model) Decode(batch []sched.Item) error {
	if m.OnDecode != nil {
		if err := m.OnDecode(batch); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.copied = false
	m.logits = make([][]float32, len(batch))
	for i, it := range batch {
		if m.seqs[it.Seq] == nil {
			if m.seqs == nil {
				m.seqs = make(map[int]*sequence)
			}
			m.seqs[it.Seq] = &sequence{}
		}
		s := m.seqs[it.Seq]
		if it.Pos != len(s.tokens) {
			return fmt.Errorf("sequence %d has %d tokens, and the batch gives it one at position %d", it.Seq, len(s.tokens), it.Pos)
		}
		s.tokens = append(s.tokens, it.Token)
		if it.Token != s.said || !it.Logits {
			s.reply = nil // a prompt, perhaps a new one after an old answer
		}
		if it.Logits {
			m.logits[i] = s.next(m)
		}
	}
	return nil
}

// next returns the logits after the sequence: those of m.Weigh, or such that
// have one peak, at the next token of the reply.
func (s *sequence) next(m *Model) []float32 {
	logits := make([]float32, m.Size())
	if m.Weigh != nil {
		m.Weigh(s.tokens, logits)
		return logits
	}
	if s.reply == nil {
		text := ""
		if m.Reply != nil {
			text = m.Reply(m.spell(s.tokens))
		}
		s.reply = append(m.said(text), EOS)
	}
	for i := range logits {
		logits[i] = float32(math.Inf(-1))
	}
	s.said = s.reply[0]
	logits[s.said] = 1
	if len(s.reply) > 1 {
		s.reply = s.reply[1:]
	}
	return logits
}

// Logits implements sched.Model.
func (m *Model) Logits(i int) ([]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i >= len(m.logits) || m.logits[i] == nil {
		return nil, errors.New("no logits were asked for there")
	}
	return m.logits[i], nil
}

// Trim implements sched.Model.
func (m *Model) Trim(seq, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.seqs[seq]
	switch {
	case n == 0:
		delete(m.seqs, seq)
	case s == nil || n > len(s.tokens):
		panic(fmt.Sprintf("sequence %d has no %d tokens", seq, n))
	case m.Recurrent && n < len(s.tokens):
		return false
	default:
		m.seqs[seq] = &sequence{tokens: s.tokens[:n:n]}
	}
	return true
}

// Copy implements sched.Model.
func (m *Model) Copy(from, to int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.seqs[from] == nil || from == to {
		panic(fmt.Sprintf("sequence %d cannot be copied to %d", from, to))
	}
	m.seqs[to] = &sequence{tokens: slices.Clone(m.seqs[from].tokens)}
	m.copied = true
	return true
}

// Ends implements sched.Model.
func (m *Model) Ends() []int32 { return []int32{EOS, IMEnd} }
