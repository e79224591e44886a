package prompt

import (
	"slices"
	"strings"

	"dragoman/adapters"
)

// thinkTags begin and end the reasoning in the text of a model.
var thinkTags = append(slices.Clip(adapters.ReasoningTags), struct{ Open, End string }{
	"<|channel|>analysis<|message|>", "<|end|>", // gpt-oss
})

// opensThink reports whether text, a prompt, ends inside of the model's
// reasoning. What users write within the prompt does not count: only a tag at
// its very end does, or one in the message that the model is to go on with.
func opensThink(text, continued string) bool {
	if continued != "" {
		if open, end := lastTags(continued); open != end {
			return open > end
		}
		text = strings.TrimSuffix(strings.TrimRightFunc(text, isSpace), strings.TrimFunc(continued, isSpace))
	}
	text = strings.TrimRightFunc(text, isSpace)
	for _, tag := range thinkTags {
		if strings.HasSuffix(text, tag.Open) {
			return true
		}
	}
	return false
}

// lastTags returns where the last tags of reasoning in text stand, -1 for none.
func lastTags(text string) (open, end int) {
	open, end = -1, -1
	for _, tag := range thinkTags {
		open, end = max(open, strings.LastIndex(text, tag.Open)), max(end, strings.LastIndex(text, tag.End))
	}
	return open, end
}
