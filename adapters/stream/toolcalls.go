package stream

import (
	"slices"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// numbers numbers the calls of a choice of which some are found in the text and
// others are known as such to the backend.
type numbers struct {
	text, known []int // by their own indexes
	next        int
}

// of returns the number of the call with that index in list.
func (n *numbers) of(list *[]int, index int) int {
	if index < 0 || index > adapters.MaxCalls {
		return adapters.MaxCalls // which is too many
	}
	for len(*list) <= index {
		*list = append(*list, n.next)
		n.next++
	}
	return (*list)[index]
}

// toolCalls gathers the tool calls of one choice from their parts.
type toolCalls []partialCall

type partialCall struct {
	index    int
	id, name string
	args     []byte
}

func (t *toolCalls) add(d *llm.ToolDelta) {
	i := slices.IndexFunc(*t, func(p partialCall) bool { return p.index == d.Index })
	if i < 0 {
		i = len(*t)
		*t = append(*t, partialCall{index: d.Index})
	}
	p := &(*t)[i]
	if d.ID != "" {
		p.id = d.ID
	}
	if d.Name != "" {
		p.name = d.Name
	}
	p.args = append(p.args, d.Arguments...)
}

func (t toolCalls) calls() []llm.ToolCall {
	slices.SortStableFunc(t, func(a, b partialCall) int { return a.index - b.index })
	var calls []llm.ToolCall
	for _, p := range t {
		calls = append(calls, llm.ToolCall{ID: p.id, Name: p.name, Arguments: string(p.args)})
	}
	return calls
}
