package adapters

import "dragoman/adapters/llm"

// Turns returns a conversation as a JSON list of turns, for backends in which
// the user and the assistant take turns and the results of several calls belong
// to one: messages of one side are joined. A turn is an object with the role,
// user or what assistant says, and under the name parts the list of what say
// returns for its messages: JSON texts, of which there may be none. System
// messages are left out.
func Turns(req *llm.Request, assistant, parts string, say func(i int) ([][]byte, error)) ([]byte, error) {
	var turns, said List
	current := ""
	end := func() {
		if said.Empty() {
			return // backends refuse a turn in which nothing is said
		}
		var o Object
		o.SetText("role", current)
		o.Set(parts, said.JSON())
		turns.Add(o.JSON())
		said = List{}
	}
	for i := range req.Messages {
		role := "user"
		switch req.Messages[i].Role {
		case "system":
			continue
		case "assistant":
			role = assistant
		}
		list, err := say(i)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && role != current {
			end()
			current = role
		}
		for _, p := range list {
			said.Add(p)
		}
	}
	end()
	return turns.JSON(), nil
}

// SystemTexts returns what the system messages of req say, wherever they stand.
func SystemTexts(req *llm.Request) []string {
	var texts []string
	for i := range req.Messages {
		if m := &req.Messages[i]; m.Role == "system" && m.Content != "" {
			texts = append(texts, m.Content)
		}
	}
	return texts
}
