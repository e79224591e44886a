package prompt

import "strings"

// thinkTags begin and end the reasoning in the text of a model.
var thinkTags = []struct{ open, end string }{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<seed:think>", "</seed:think>"},
	{"[THINK]", "[/THINK]"},
	{"<|START_THINKING|>", "<|END_THINKING|>"},
	{"<|channel>thought", "<channel|>"},
	{"<|channel|>analysis<|message|>", "<|end|>"},
	{`<|open|>think<|sep|>`, `<|close|>think<|sep|>`},
}

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
		if strings.HasSuffix(text, tag.open) {
			return true
		}
	}
	return false
}

// lastTags returns where the last tags of reasoning in text stand, -1 for none.
func lastTags(text string) (open, end int) {
	open, end = -1, -1
	for _, tag := range thinkTags {
		open, end = max(open, strings.LastIndex(text, tag.open)), max(end, strings.LastIndex(text, tag.end))
	}
	return open, end
}
