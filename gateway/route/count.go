package route

import (
	"context"
	"strings"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/gateway/openai"
)

// Count returns how many tokens prompt is for the model, and how many prompt and
// answer may have together. It asks those of the model's own backends that can
// count, until one does. An error is an *llm.Error, or the cause of ctx if that
// has ended.
func (m *Model) Count(ctx context.Context, prompt string) (tokens, size int, err error) {
	s := m.steps[0]
	name := strings.Replace(s.entry.Name, "*", s.star, 1)
	for _, b := range s.backends {
		if b.counter == nil {
			continue
		}
		tokens, size, err = b.count(ctx, name, s.wanted(b), prompt)
		switch {
		case ctx.Err() != nil:
			return 0, 0, context.Cause(ctx)
		case err == nil && size > 0:
			return tokens, size, nil
		}
	}
	if err == nil {
		err = llm.Invalid("model", "unsupported_value", "Nothing counts tokens for the model %s.", openai.Quote(name))
	}
	return 0, 0, err
}

func (b *backend) count(ctx context.Context, asked, model, prompt string) (tokens, size int, err error) {
	up, held, err := b.reach(ctx, asked, model)
	if err != nil {
		return 0, 0, err
	}
	defer held()
	return b.counter.Count(ctx, stream.Asker(up), model, prompt)
}
