package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// toolCall reads one of the calls that an assistant's message made.
func toolCall(path string, value []byte) (llm.ToolCall, error) {
	var none llm.ToolCall
	if value[0] != '{' {
		return none, wrongType(path, "an object", value)
	}
	var id, kind, body []byte
	err := each(path, value, func(name, value []byte) error {
		switch string(name) {
		case "id":
			id = present(value)
		case "type":
			kind = present(value)
		case "function":
			body = present(value)
		}
		return nil
	})
	if err != nil {
		return none, err
	}
	if kind != nil && string(kind) != `"function"` {
		word, _ := jsonscan.Unquote(kind)
		return none, badWord(path+".type", "unsupported_value", word, "function")
	}
	if body == nil {
		return none, missing(path + ".function")
	}
	call, err := function(path+".function", body)
	if err != nil {
		return none, err
	}
	call.ID, err = requiredText(path+".id", id)
	return call, err
}

// function reads a called function's name and arguments.
func function(path string, value []byte) (llm.ToolCall, error) {
	var call llm.ToolCall
	if value[0] != '{' {
		return call, wrongType(path, "an object", value)
	}
	var name, arguments []byte
	err := each(path, value, func(member, value []byte) error {
		switch string(member) {
		case "name":
			name = present(value)
		case "arguments":
			arguments = present(value)
		}
		return nil
	})
	if err != nil {
		return call, err
	}
	if call.Name, err = requiredText(path+".name", name); err != nil {
		return call, err
	}
	call.Arguments, err = callArguments(path+".arguments", arguments)
	return call, err
}

// callArguments returns JSON text. It should come as a string, but clients that
// keep it parsed send the object itself.
func callArguments(path string, value []byte) (string, error) {
	if value == nil {
		return "", nil
	}
	if text, ok := jsonscan.Unquote(value); ok {
		return text, nil
	}
	if value[0] != '{' {
		return "", wrongType(path, "a string", value)
	}
	var text bytes.Buffer
	if err := json.Compact(&text, value); err != nil {
		return "", fmt.Errorf("compacting %s: %w", path, err)
	}
	return text.String(), nil
}
