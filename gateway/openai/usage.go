package openai

import (
	"math"
	"strconv"

	"dragoman/adapters/llm"
)

// maxCount bounds a count of tokens, whatever a backend says: the total must not
// overflow.
const maxCount = math.MaxInt / 2

// appendUsage appends the usage object. Counts that nobody made are zero and
// marked as estimated; details are there only where they are known.
func appendUsage(dst []byte, u llm.Usage) []byte {
	u.Prompt, u.Completion = min(u.Prompt, maxCount), min(u.Completion, maxCount)
	dst = appendCount(dst, `{"prompt_tokens":`, u.Prompt)
	dst = appendCount(dst, `,"completion_tokens":`, u.Completion)
	dst = appendCount(dst, `,"total_tokens":`, u.Prompt+u.Completion)
	if u.Cached > 0 {
		dst = append(appendCount(dst, `,"prompt_tokens_details":{"cached_tokens":`, u.Cached), '}')
	}
	if u.Reasoning > 0 {
		dst = append(appendCount(dst, `,"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning), '}')
	}
	if u.Estimated || !u.Has {
		dst = append(dst, `,"estimated":true`...)
	}
	return append(dst, '}')
}

func appendCount(dst []byte, lead string, n int) []byte {
	dst = append(dst, lead...)
	return strconv.AppendInt(dst, int64(n), 10)
}

// appendHead appends an answer or chunk up to its model, without a comma.
func appendHead(dst []byte, m *Meta, object string) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, m.ID)
	dst = append(dst, `,"object":"`...)
	dst = append(dst, object...)
	dst = append(dst, `","created":`...)
	dst = strconv.AppendInt(dst, m.Created, 10)
	dst = append(dst, `,"model":`...)
	return appendString(dst, m.Model)
}
