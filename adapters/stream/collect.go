package stream

import (
	"io"
	"net/http"

	"dragoman/adapters/llm"
)

// Answer is a complete answer.
type Answer struct {
	Choices []AnswerChoice // by index
	Usage   llm.Usage
}

// AnswerChoice is one choice of an Answer. Extra holds the members that came
// last, as in llm.Event.
type AnswerChoice struct {
	Index     int
	Text      []byte
	Reasoning []byte
	Tools     []llm.ToolCall // in the order of their indexes
	Logprobs  []llm.Logprob
	Finish    llm.Finish
	Extra     []byte
}

// logprobSize is about what a token with its log-probability takes in an answer.
const logprobSize = 64

// Source is an answer under way: a Stream, or several as one. It has the methods
// of a Stream, with the same meaning.
type Source interface {
	Next(dst []llm.Event) ([]llm.Event, error)
	Usage() llm.Usage
	Close() error
}

// Collect reads the whole answer. An answer of more than maxBytes is an error;
// others are those of Next. It leaves Close to the caller.
func Collect(s Source, maxBytes int) (*Answer, error) {
	a := &Answer{}
	var tools []toolCalls
	var events []llm.Event
	var err error
	for size := 0; ; {
		if events, err = s.Next(events[:0]); err != nil {
			break
		}
		for i := range events {
			ev := &events[i]
			for ev.Choice >= len(a.Choices) {
				a.Choices, tools = append(a.Choices, AnswerChoice{}), append(tools, toolCalls{})
			}
			size += len(ev.Text) + len(ev.Reasoning) + len(ev.Extra)
			for _, l := range ev.Logprobs {
				size += logprobSize * (1 + len(l.Top))
			}
			if ev.Tool != nil {
				size += len(ev.Tool.ID) + len(ev.Tool.Name) + len(ev.Tool.Arguments)
				tools[ev.Choice].add(ev.Tool)
			}
			a.Choices[ev.Choice].add(ev)
		}
		if size > maxBytes {
			return nil, llm.Upstream(http.StatusBadGateway, "", "The backend's answer is longer than %d bytes.", maxBytes)
		}
	}
	if err != io.EOF {
		return nil, err
	}
	for i := range a.Choices {
		a.Choices[i].Index = i
		a.Choices[i].Tools = tools[i].calls()
	}
	a.Usage = s.Usage()
	return a, nil
}

func (c *AnswerChoice) add(ev *llm.Event) {
	c.Text = append(c.Text, ev.Text...)
	c.Reasoning = append(c.Reasoning, ev.Reasoning...)
	c.Logprobs = append(c.Logprobs, ev.Logprobs...)
	if len(ev.Extra) > 0 {
		c.Extra = append(c.Extra[:0], ev.Extra...)
	}
	if ev.Finish != "" {
		c.Finish = ev.Finish
	}
}
