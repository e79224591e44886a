package prompt

import (
	"errors"
	"slices"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// A conversation is what one rendering is about.
type conversation struct {
	messages []llm.Message
	tools    []byte     // a JSON array; nil: none are offered
	vars     []variable // more that the template can read
	generate bool       // the prompt ends with the beginning of an answer

	mark rune   // breaks control tokens; 0: there are none to be broken
	tail string // put behind the last message, where the model is to go on; "": it begins anew
}

type variable struct {
	name  string
	value []byte // JSON
}

// reserved are the variables that a client cannot set by chat_template_kwargs.
var reserved = []string{
	"messages", "tools", "bos_token", "eos_token", "add_generation_prompt", "raise_exception", "strftime_now", "range",
}

// conversation reads what of a request goes into the prompt. Its errors are the
// client's.
func (t *template) conversation(req *llm.Request) (*conversation, error) {
	c := &conversation{messages: req.Messages, tools: offered(req)}
	if effort := adapters.Member(req, "reasoning_effort"); effort != nil {
		c.vars = append(c.vars, variable{"reasoning_effort", effort})
	}
	if err := c.readVariables(req); err != nil {
		return nil, err
	}
	resume, err := c.readEnd(req)
	if err != nil {
		return nil, err
	}
	mark, end, err := t.breaker.marks(c, resume)
	if err != nil {
		return nil, err
	}
	c.mark = mark
	if resume {
		c.tail = string(end) + " " // a template that trims the text takes the space
	}
	return c, nil
}

// offered returns the tools as templates know them. tool_choice none hides
// them: a model that sees none calls none.
func offered(req *llm.Request) []byte {
	if mode, _ := adapters.FunctionChoice(req); mode == "none" {
		return nil
	}
	tools := adapters.Member(req, "tools")
	for range jsonscan.Elements(tools) {
		return tools
	}
	var list adapters.List
	for f := range jsonscan.Elements(adapters.Member(req, "functions")) { // what tools were before there were tools
		var tool adapters.Object
		tool.SetText("type", "function")
		tool.Set("function", f)
		list.Add(tool.JSON())
	}
	if list.Empty() {
		return nil
	}
	return list.JSON()
}

func (c *conversation) readVariables(req *llm.Request) error {
	const field = "chat_template_kwargs"
	value := adapters.Member(req, field)
	if value == nil {
		return nil
	}
	if value[0] != '{' {
		return llm.Invalid(field, "invalid_type", "Invalid type for '%s': expected an object.", field)
	}
	err := jsonscan.Each(value, func(name, value []byte) error {
		if slices.Contains(reserved, string(name)) {
			return llm.Invalid(field+"."+string(name), "invalid_value", "'%s' cannot be set by '%s'.", name, field)
		}
		c.vars = append(c.vars, variable{string(name), value})
		return nil
	})
	if e := (*llm.Error)(nil); err != nil && !errors.As(err, &e) {
		return llm.Invalid(field, "invalid_json", "Invalid '%s': %v.", field, err)
	}
	return err
}

// readEnd reads how the prompt shall end: with the beginning of an answer, with
// the last message as it is, or within it.
func (c *conversation) readEnd(req *llm.Request) (resume bool, err error) {
	const goOn, begin = "continue_final_message", "add_generation_prompt"
	resume, _, err = flag(req, goOn)
	if err != nil {
		return false, err
	}
	generate, said, err := flag(req, begin)
	if err != nil {
		return false, err
	}
	c.generate = generate || !said && !resume
	last := &llm.Message{}
	if n := len(req.Messages); n > 0 {
		last = &req.Messages[n-1]
	}
	switch {
	case !resume:
	case generate:
		return false, llm.Invalid(goOn, "invalid_value", "'%s' and '%s' cannot both be true.", goOn, begin)
	case last.Role != "assistant":
		return false, llm.Invalid(goOn, "invalid_value", "'%s' needs an assistant message at the end.", goOn)
	case len(last.ToolCalls) > 0:
		return false, llm.Invalid(goOn, "invalid_value", "'%s': a message with tool calls cannot be continued.", goOn)
	}
	return resume, nil
}

func flag(req *llm.Request, name string) (value, said bool, err error) {
	switch text := string(adapters.Member(req, name)); text {
	case "":
		return false, false, nil
	case "true", "false":
		return text == "true", true, nil
	}
	return false, false, llm.Invalid(name, "invalid_type", "Invalid type for '%s': expected a boolean.", name)
}

// size is about how many bytes the client sent.
func (c *conversation) size() int {
	n := len(c.tools)
	for i := range c.messages {
		n += len(c.messages[i].Content)
	}
	for _, v := range c.vars {
		n += len(v.value)
	}
	return n
}

// continued returns the text that the model is to go on with, "" if it is to
// begin anew.
func (c *conversation) continued() string {
	if c.tail == "" {
		return ""
	}
	return c.messages[len(c.messages)-1].Content
}

// cut ends a prompt where the model is to go on, by the rules of transformers:
// a template that trims the message takes the white space before as well.
func (c *conversation) cut(text string) (string, error) {
	if c.tail == "" {
		return text, nil
	}
	at := strings.LastIndex(text, strings.TrimSuffix(c.tail, " "))
	if at < 0 || c.messages[len(c.messages)-1].Role != "assistant" {
		return "", &refusal{"it has no place for a message that is to be continued"}
	}
	head := text[:at]
	if !strings.HasPrefix(text[at:], c.tail) {
		head = strings.TrimRightFunc(head, isSpace)
	}
	plain, said := c.unmarked(head), c.continued()
	if !strings.HasSuffix(plain, said) && !strings.HasSuffix(plain, strings.TrimFunc(said, isSpace)) {
		return "", &refusal{"it changes the message that is to be continued"}
	}
	return head, nil
}

// unmarked returns text as the backend will see it.
func (c *conversation) unmarked(text string) string {
	if c.mark == 0 {
		return text
	}
	return strings.ReplaceAll(text, string(c.mark), "")
}
