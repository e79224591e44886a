package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"dragoman/adapters/llm"
)

// A shape is something about a conversation that templates may not know.
type shape int

const (
	plainUser  shape = iota
	turns            // an assistant message
	systemHead       // system messages at the beginning
	systemRow        // more than one of them
	systemTail       // a system message after another
	row              // two user or assistant messages in a row
	toolCalls        // an assistant message with tool calls
	toolResult       // a tool message
	numShapes
)

var shapeNames = [numShapes]string{
	"user messages", "assistant messages", "system messages", "more than one system message",
	"system messages after the first turn", "messages of one role in a row", "tool calls", "tool messages",
}

// support says how a template takes a shape.
type support struct {
	level   int  // the least reshaping that brings all text into the prompt
	never   bool // no reshaping does
	dropped bool // as it is, a part of it gets lost without a word
}

// The test conversations. The words in them are found again in the prompt.
const (
	wordUser, wordUser2     = "probeUserOne", "probeUserTwo"
	wordAssistant           = "probeAssistant"
	wordSystem, wordSystem2 = "probeSystemOne", "probeSystemTwo"
	wordTool, wordResult    = "probeFunction", "probeResult"
	wordKey, wordValue      = "probeKey", "probeValue"
	wordReasoning           = "probeReasoning"
)

type trial struct {
	shape    shape
	messages []llm.Message
	words    []string
}

func trials() []trial {
	user, again := llm.Message{Role: "user", Content: wordUser}, llm.Message{Role: "user", Content: wordUser2}
	assistant := llm.Message{Role: "assistant", Content: wordAssistant}
	system, more := llm.Message{Role: "system", Content: wordSystem}, llm.Message{Role: "system", Content: wordSystem2}
	return []trial{
		{plainUser, []llm.Message{user}, []string{wordUser}},
		{turns, []llm.Message{user, assistant, again}, []string{wordUser, wordAssistant, wordUser2}},
		{systemHead, []llm.Message{system, user}, []string{wordSystem, wordUser}},
		{systemRow, []llm.Message{system, more, user}, []string{wordSystem, wordSystem2, wordUser}},
		{systemTail, []llm.Message{user, assistant, system, again}, []string{wordUser, wordAssistant, wordSystem, wordUser2}},
		{row, []llm.Message{user, again}, []string{wordUser, wordUser2}},
		{toolCalls, toolConversation(), []string{wordTool, wordValue}},
		{toolResult, toolConversation(), []string{wordResult}},
	}
}

func toolConversation() []llm.Message {
	// Some templates insist on identifiers of nine letters and digits.
	const id = "probe0001"
	arguments := fmt.Sprintf("{%q: %q}", wordKey, wordValue)
	return []llm.Message{
		{Role: "user", Content: wordUser},
		{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: id, Name: wordTool, Arguments: arguments}}},
		{Role: "tool", Name: wordTool, ToolCallID: id, Content: wordResult},
	}
}

// probe renders the test conversations and notes what the template does with
// them. It fails on everything but a refusal.
func (t *template) probe() error {
	if err := t.probeParts(); err != nil {
		return err
	}
	if err := t.probeArguments(); err != nil {
		return err
	}
	if err := t.probeTools(); err != nil {
		return err
	}
	if err := t.probeReasoning(); err != nil {
		return err
	}
	for _, trial := range trials() {
		s, err := t.try(trial)
		if err == nil && trial.shape == toolCalls && s.never && !s.dropped {
			// The tool message may be what is refused, and the calls be lost.
			trial.messages[2] = llm.Message{Role: "user", Content: wordUser2}
			s, err = t.try(trial)
		}
		if err != nil {
			return fmt.Errorf("rendering %s: %w", shapeNames[trial.shape], err)
		}
		t.support[trial.shape] = s
	}
	switch {
	case !t.shown && t.support[plainUser].dropped: // it only counts messages, say, or ignores them: its writer's choice
		clear(t.support[:])
	case t.support[plainUser].never:
		return errors.New("a user message does not appear in the prompt")
	}
	return nil
}

func (t *template) try(trial trial) (support, error) {
	s := support{}
	for level := asIs; level <= foldAll; level++ {
		text, err := t.render(fold(trial.messages, level), nil)
		if r := (*refusal)(nil); errors.As(err, &r) {
			continue
		}
		if err != nil {
			return s, err
		}
		t.shown = t.shown || slices.ContainsFunc(trial.words, func(w string) bool { return strings.Contains(text, w) })
		if containsAll(text, trial.words) {
			s.level = level
			return s, nil
		}
		s.dropped = s.dropped || level == asIs
	}
	s.never = true
	return s, nil
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// levels returns the ways of reshaping to be tried for a conversation, from
// the least. Its error is for a part that the template would lose.
func (t *template) levels(messages []llm.Message) (first, last int, err error) {
	for s, present := range shapesOf(messages) {
		support := t.support[s]
		switch {
		case !present:
		case support.dropped && (support.never || !t.Fold):
			return 0, 0, llm.Invalid("messages", "invalid_value",
				"the model's chat template has no place for %s", shapeNames[s])
		case !support.never:
			first = max(first, support.level)
		}
	}
	if !t.Fold {
		return asIs, asIs, nil
	}
	return first, foldAll, nil
}

func shapesOf(messages []llm.Message) (present [numShapes]bool) {
	begun := false
	for i := range messages {
		role := messages[i].Role
		again := i > 0 && messages[i-1].Role == role
		switch role {
		case "system":
			present[systemHead] = present[systemHead] || !begun
			present[systemTail] = present[systemTail] || begun
			present[systemRow] = present[systemRow] || again
		case "assistant":
			present[turns] = true
			present[toolCalls] = present[toolCalls] || len(messages[i].ToolCalls) > 0
		case "tool":
			present[toolResult] = true
		}
		begun = begun || role != "system"
		present[row] = present[row] || again && (role == "user" || role == "assistant")
	}
	return present
}
