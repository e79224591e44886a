package openai

import (
	"errors"
	"strconv"
	"strings"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// What is wrong with a request, in the words that OpenAI uses. What the client
// sent is quoted only where it is a word of a closed set or a number, and
// bounded.

func notJSON(detail string) error {
	return llm.Invalid("", "invalid_json", "We could not parse the JSON body of your request: %s.", detail)
}

// badObject puts jsonscan's errors about the object at path into words, and
// returns any other error as it is. An empty path is the whole request.
func badObject(path string, err error) error {
	if errors.Is(err, jsonscan.ErrMembers) {
		return llm.Invalid(path, "invalid_json", "We could not parse the JSON body of your request: %v.", err)
	}
	dup, ok := errors.AsType[*jsonscan.DuplicateError](err)
	if !ok {
		return err
	}
	if path != "" {
		path += "."
	}
	path += clip(dup.Name)
	return llm.Invalid(path, "invalid_json", "Duplicate parameter: %s. It may be given only once.", Quote(path))
}

func missing(path string) error {
	return llm.Invalid(path, "missing_required_parameter", "Missing required parameter: '%s'.", path)
}

func wrongType(path, want string, value []byte) error {
	return llm.Invalid(path, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", path, want, typeName(value))
}

func outOfRange(path, kind, fault, want string, value []byte) error {
	return llm.Invalid(path, "invalid_value", "Invalid '%s': %s %s value. Expected a value %s, but got %s instead.",
		path, kind, fault, want, clip(string(value)))
}

// badWord is the error of a value outside a closed set.
func badWord(path, code, word string, valid ...string) error {
	return llm.Invalid(path, code, "Invalid value for '%s': %s. Supported values are: '%s'.",
		path, Quote(word), strings.Join(valid, "', '"))
}

func typeName(value []byte) string {
	switch {
	case len(value) == 0:
		return "nothing"
	case value[0] == '"':
		return "a string"
	case value[0] == '{':
		return "an object"
	case value[0] == '[':
		return "an array"
	case value[0] == 'n':
		return "null"
	case value[0] == 't' || value[0] == 'f':
		return "a boolean"
	}
	if _, err := parseInteger(value); err == errNotInteger {
		return "a decimal number"
	}
	return "an integer"
}

// clip bounds what a client sent to 64 bytes.
func clip(text string) string {
	if short := shortened(text, 64); len(short) < len(text) {
		return short + "..."
	}
	return text
}

// Quote returns what a client sent as messages show it: at most 64 bytes, control
// characters escaped, in single quotes.
func Quote(text string) string {
	quoted := strconv.Quote(clip(text))
	return "'" + strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + "'"
}
