package openai

import (
	"strconv"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

// AppendAnswer appends a whole answer as one JSON object: a chat completion, or
// a text completion if m.Kind says so. Unknown members of the backend's answer
// follow ours.
func AppendAnswer(dst []byte, m Meta, a *stream.Answer) []byte {
	object := "chat.completion"
	if m.Kind == llm.Completion {
		object = "text_completion"
	}
	dst = appendHead(dst, &m, object)
	dst = append(dst, `,"choices":[`...)
	var extra []byte
	for i := range a.Choices {
		c := &a.Choices[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"index":`...)
		dst = strconv.AppendInt(dst, int64(c.Index), 10)
		if m.Kind == llm.Completion {
			dst = append(dst, `,"text":"`...)
			dst = appendEscaped(dst, []byte(echoed(m.Echo, i)))
			dst = appendEscaped(dst, c.Text)
			dst = append(dst, '"')
		} else {
			dst = append(dst, `,"message":`...)
			dst = appendMessage(dst, c)
		}
		dst = append(dst, `,"logprobs":`...)
		if m.Logprobs {
			dst = appendLogprobs(dst, m.Kind == llm.Chat, c.Logprobs, 0)
		} else {
			dst = append(dst, "null"...)
		}
		dst = append(dst, `,"finish_reason":"`...)
		dst = append(dst, finishWord(c.Finish)...)
		dst = append(dst, `"}`...)
		if extra == nil {
			extra = c.Extra
		}
	}
	dst = append(dst, `],"usage":`...)
	dst = appendUsage(dst, a.Usage)
	if len(extra) > 0 {
		dst = append(append(dst, ','), extra...)
	}
	return append(dst, '}')
}

// appendMessage appends what an assistant said. Content is null only where
// there is nothing but tool calls, and tool_calls is there only if there are
// some: clients take an empty list for a call.
func appendMessage(dst []byte, c *stream.AnswerChoice) []byte {
	dst = append(dst, `{"role":"assistant","content":`...)
	if len(c.Text) == 0 && len(c.Tools) > 0 {
		dst = append(dst, "null"...)
	} else {
		dst = append(dst, '"')
		dst = appendEscaped(dst, c.Text)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"refusal":null`...)
	if len(c.Reasoning) > 0 {
		dst = append(dst, `,"reasoning_content":"`...)
		dst = appendEscaped(dst, c.Reasoning)
		dst = append(dst, '"')
	}
	for i := range c.Tools {
		dst = append(dst, leads[min(i, 1)]...)
		dst = appendCall(dst, &c.Tools[i])
	}
	if len(c.Tools) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// leads come before the first tool call and before each other.
var leads = [...]string{`,"tool_calls":[`, `,`}

func appendCall(dst []byte, t *llm.ToolCall) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, t.ID)
	dst = append(dst, `,"type":"function","function":{"name":`...)
	dst = appendString(dst, t.Name)
	dst = append(dst, `,"arguments":`...)
	dst = appendString(dst, t.Arguments)
	return append(dst, "}}"...)
}
