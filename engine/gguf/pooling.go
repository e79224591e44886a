package gguf

import "strings"

// Pooling is how a model makes one embedding of those of all tokens, as the format
// numbers it.
type Pooling int

// The poolings. A model that does not say has NoPooling.
const (
	NoPooling Pooling = iota
	Mean              // their mean
	CLS               // the first token's
	Last              // the last token's
	Rank              // a score in place of an embedding: the model ranks documents
)

// String returns the pooling's usual name.
func (p Pooling) String() string {
	if p < NoPooling || p > Rank {
		return "unknown"
	}
	return [...]string{"none", "mean", "cls", "last", "rank"}[p]
}

// Pooling returns what the file says.
func (i *Info) Pooling() Pooling { return Pooling(i.number("pooling_type")) }

// Embeds reports whether the model is one for embeddings alone: it says how they are
// pooled, or is of a family that continues no text.
func (i *Info) Embeds() bool {
	return i.Pooling() != NoPooling || strings.Contains(i.Architecture, "bert") || i.Architecture == "gemma-embedding"
}
