package fastchat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// conv is a worker's conversation template.
type conv struct {
	Name           string     `json:"name"`
	SystemTemplate string     `json:"system_template"`
	SystemMessage  string     `json:"system_message"`
	Roles          []string   `json:"roles"`
	Messages       []turn     `json:"messages"` // few-shot examples, kept in front
	SepStyle       int        `json:"sep_style"`
	Sep            string     `json:"sep"`
	Sep2           string     `json:"sep2"`
	StopStr        stringList `json:"stop_str"`
	StopTokenIDs   []int      `json:"stop_token_ids"`

	// SystemMessageVision is read for its presence: FastChat has it since June
	// 2024, so that SepStyle is a number of today.
	SystemMessageVision *string `json:"system_message_vision"`
}

// turn is one message of a conversation. An empty text is a turn that the model
// is to fill.
type turn struct{ role, text string }

// UnmarshalJSON reads [role, text]; a text with images is [text, images].
func (t *turn) UnmarshalJSON(data []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil || len(parts) < 2 {
		return fmt.Errorf("a message is not [role, text]: %.80s", data)
	}
	t.role = adapters.Text(parts[0])
	text := parts[1]
	var withImages []json.RawMessage
	if json.Unmarshal(text, &withImages) == nil && len(withImages) > 0 {
		text = withImages[0]
	}
	t.text = adapters.Text(text)
	return nil
}

// stringList reads a string, a list of strings or null.
type stringList []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *stringList) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		return json.Unmarshal(data, (*[]string)(l))
	}
	*l = []string{adapters.Text(data)}
	return nil
}

// Template implements adapters.Templater: it asks the worker for the template
// of the model.
func (Adapter) Template(ctx context.Context, ask adapters.Ask, model string) (adapters.Template, error) {
	body := append(adapters.AppendString([]byte(`{"model":`), model), '}')
	answer, err := ask(ctx, adapters.PostJSON("/worker_get_conv_template", body))
	if err != nil {
		return nil, err
	}
	if err := adapters.CheckJSON(answer); err != nil {
		return nil, err
	}
	var reply struct {
		Conv *conv `json:"conv"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return nil, fmt.Errorf("reading the worker's conversation template: %w", err)
	}
	if reply.Conv == nil || len(reply.Conv.Roles) < 2 {
		return nil, fmt.Errorf("the worker has no conversation template for model %q: name one with template: in the configuration", model)
	}
	render, placesSystem := reply.Conv.style()
	if render == nil {
		return nil, fmt.Errorf("conversation template %q of model %q has sep_style %d, which the gateway does not render: name another with template: in the configuration",
			reply.Conv.Name, model, reply.Conv.SepStyle)
	}
	return &template{reply.Conv, render, placesSystem}, nil
}

// systemPlace is where a system template has the system message.
const systemPlace = "{system_message}"

type template struct {
	*conv
	render       style
	placesSystem bool
}

// Render implements adapters.Template as FastChat's own API server does it,
// except that it joins several system messages, and where the template has no
// place for them puts them in front of what the user says. A worker takes one string, so what a client writes can become control
// tokens there.
func (t *template) Render(req *llm.Request) (adapters.Rendered, error) {
	system := t.SystemMessage
	turns := slices.Clone(t.Messages)
	asked := false
	for i, m := range req.Messages {
		switch {
		case m.Role == "system" && !asked:
			system, asked = m.Content, true
		case m.Role == "system":
			system += "\n\n" + m.Content
		case m.Role == "user":
			turns = append(turns, turn{t.Roles[0], m.Content})
		case m.Role == "assistant" && len(m.ToolCalls) == 0:
			turns = append(turns, turn{t.Roles[1], m.Content})
		default:
			return adapters.Rendered{}, llm.Invalid(fmt.Sprintf("messages[%d].role", i), "invalid_value",
				"This model's conversation template has no place for tools and their results.")
		}
	}
	turns = append(turns, turn{role: t.Roles[1]})
	if system != "" && asked && !t.placesSystem {
		turns = t.fold(turns, system)
		system = t.SystemMessage
	}
	whole := strings.ReplaceAll(t.SystemTemplate, systemPlace, system)
	text := t.render(t.conv, script{system: whole, bareSystem: system == "", turns: turns})
	return adapters.Rendered{
		Prompt:       llm.Prompt{{Text: text, Special: true}},
		Stop:         t.StopStr,
		StopTokenIDs: t.StopTokenIDs,
	}, nil
}

// fold puts system in front of the request's first turn if the user has it,
// else in a turn of its own.
func (t *template) fold(turns []turn, system string) []turn {
	first := len(t.Messages)
	if turns[first].role != t.Roles[0] || turns[first].text == "" {
		return slices.Insert(turns, first, turn{t.Roles[0], system})
	}
	turns[first].text = system + "\n\n" + turns[first].text
	return turns
}
