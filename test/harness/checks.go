package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// Stream is a checked event stream, in a form that is easy to compare.
type Stream struct {
	Text      map[int]string // joined content by choice
	Reasoning map[int]string
	Tools     map[int][]Tool
	Finish    map[int]string
	Usage     string // the usage chunk's object, "" if there was none
	Err       *ErrorObject
	Shape     string // the order of things: R role, C content, G reasoning, T tool, F=reason, U usage, E error, D done
	ID, Model string
}

// Tool is one tool call, joined.
type Tool struct{ ID, Name, Arguments string }

type chunk struct {
	ID      *string         `json:"id"`
	Object  string          `json:"object"`
	Created *int64          `json:"created"`
	Model   *string         `json:"model"`
	Error   json.RawMessage `json:"error"`
	Usage   json.RawMessage `json:"usage"`
	Choices *[]choice       `json:"choices"`
}

type choice struct {
	Index  *int                       `json:"index"`
	Delta  map[string]json.RawMessage `json:"delta"`
	Finish *string                    `json:"finish_reason"`
}

// Check reads a chat completion stream and checks all that must hold in any
// such stream. usage says whether the client asked for it.
func (a Answer) Check(t testing.TB, usage bool) *Stream {
	t.Helper()
	s := &Stream{Text: map[int]string{}, Reasoning: map[int]string{}, Tools: map[int][]Tool{}, Finish: map[int]string{}}
	frames := a.Frames(t)
	if frames[len(frames)-1] != "[DONE]" {
		t.Fatalf("the stream does not end with [DONE]: %q", tail(a.Body))
	}
	created := int64(0)
	for i, f := range frames[:len(frames)-1] {
		if strings.HasPrefix(f, `{"error":`) {
			if i != len(frames)-2 {
				t.Fatalf("frames after the error: %q", frames[i:])
			}
			e := parseError(t, f)
			s.Err = &e
			s.Shape += "E "
			continue
		}
		var c chunk
		if err := json.Unmarshal([]byte(f), &c); err != nil || !utf8.ValidString(f) {
			t.Fatalf("frame is no JSON: %v: %s", err, f)
		}
		if c.ID == nil || *c.ID == "" || c.Created == nil || c.Model == nil || c.Choices == nil || c.Object != "chat.completion.chunk" {
			t.Fatalf("chunk lacks a member: %s", f)
		}
		if c.Error != nil {
			t.Fatalf("chunk has an error member: %s", f)
		}
		if i == 0 {
			s.ID, s.Model, created = *c.ID, *c.Model, *c.Created
		}
		if *c.ID != s.ID || *c.Model != s.Model || *c.Created != created {
			t.Fatalf("id, model or created changed: %s", f)
		}
		s.chunk(t, f, c, usage)
	}
	s.Shape += "D"
	if s.Err == nil && len(s.Finish) == 0 {
		t.Fatalf("neither finish nor error: %s", s.Shape)
	}
	return s
}

func (s *Stream) chunk(t testing.TB, f string, c chunk, usage bool) {
	t.Helper()
	if len(*c.Choices) == 0 {
		if !usage || s.Usage != "" || len(c.Usage) == 0 || c.Usage[0] != '{' {
			t.Fatalf("chunk without choices: %s", f)
		}
		s.Usage = string(c.Usage)
		s.Shape += "U "
		return
	}
	if usage != bytes.Equal(c.Usage, []byte("null")) || s.Usage != "" {
		t.Fatalf("usage in the wrong place: %s", f)
	}
	if len(*c.Choices) != 1 {
		t.Fatalf("more than one choice in a chunk: %s", f)
	}
	if choice := (*c.Choices)[0]; choice.Index == nil || choice.Delta == nil || !strings.Contains(f, `"finish_reason":`) {
		t.Fatalf("choice lacks a member: %s", f)
	} else {
		s.delta(t, f, choice)
	}
}

func (s *Stream) delta(t testing.TB, f string, c choice) {
	t.Helper()
	i := *c.Index
	_, open := s.Text[i]
	if _, finished := s.Finish[i]; finished {
		t.Fatalf("chunk after the finish: %s", f)
	}
	if role, has := c.Delta["role"]; has == open || has && string(role) != `"assistant"` {
		t.Fatalf("role missing, repeated or odd: %s", f)
	}
	if !open {
		if i > 0 {
			if _, before := s.Text[i-1]; !before {
				t.Fatalf("choice %d opens before choice %d", i, i-1)
			}
		}
		s.Text[i] = ""
		s.Shape += "R "
	}
	if c.Finish != nil {
		if len(c.Delta) != 0 {
			t.Fatalf("finish chunk with a delta: %s", f)
		}
		switch *c.Finish {
		case "stop", "length", "tool_calls", "content_filter":
		default:
			t.Fatalf("finish_reason %q", *c.Finish)
		}
		s.Finish[i] = *c.Finish
		s.Shape += "F=" + *c.Finish + " "
	}
	s.Text[i] += s.text(t, "C ", c.Delta["content"])
	s.Reasoning[i] += s.text(t, "G ", c.Delta["reasoning_content"])
	if raw, ok := c.Delta["tool_calls"]; ok {
		s.tools(t, i, raw)
	}
}

// text returns a delta's text and notes it in the shape, once for a run.
func (s *Stream) text(t testing.TB, letter string, raw json.RawMessage) string {
	t.Helper()
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) != nil || text == "" {
		return ""
	}
	if !strings.HasSuffix(s.Shape, letter) {
		s.Shape += letter
	}
	return text
}

func (s *Stream) tools(t testing.TB, i int, raw json.RawMessage) {
	t.Helper()
	var deltas []struct {
		Index    *int
		ID       *string
		Type     *string
		Function struct {
			Name      *string
			Arguments *string
		}
	}
	if err := json.Unmarshal(raw, &deltas); err != nil || len(deltas) == 0 {
		t.Fatalf("tool_calls: %v in %s", err, raw)
	}
	for _, d := range deltas {
		calls := s.Tools[i]
		switch {
		case d.Index == nil || d.Function.Arguments == nil:
			t.Fatalf("tool delta without index or arguments: %s", raw)
		case *d.Index == len(calls):
			if d.ID == nil || d.Type == nil || *d.Type != "function" || d.Function.Name == nil {
				t.Fatalf("first delta of a tool call lacks a member: %s", raw)
			}
			calls = append(calls, Tool{ID: *d.ID, Name: *d.Function.Name})
			s.Shape += "T "
		case d.ID != nil || d.Type != nil || d.Function.Name != nil || *d.Index > len(calls):
			t.Fatalf("later delta of a tool call: %s", raw)
		}
		calls[*d.Index].Arguments += *d.Function.Arguments
		s.Tools[i] = calls
	}
}

// Want fails the test unless the stream has this shape and choice 0 this text.
func (s *Stream) Want(t testing.TB, shape, text string) {
	t.Helper()
	if s.Shape != shape || s.Text[0] != text {
		t.Errorf("got %s with text %q, want %s with text %q%s", s.Shape, s.Text[0], shape, text, s.errText())
	}
}

func (s *Stream) errText() string {
	if s.Err == nil {
		return ""
	}
	return fmt.Sprintf(" (error: %s)", s.Err.Message)
}
