package config

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that is never printed: formatted, logged or marshalled it is
// ***, or nothing if it is empty. Reveal gives the text itself.
type Secret string

// Reveal returns the text, for the one place that must send or compare it.
func (s Secret) Reveal() string { return string(s) }

// String returns *** in place of the text.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format writes *** for every verb: with some, fmt would look past String.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue returns *** in place of the text.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns *** in place of the text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
