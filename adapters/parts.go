package adapters

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Part is a part of a message: text, or an image.
type Part struct {
	Text  string
	Image *Image
}

// Image is a picture that a client sent: its address or, from a data: URL, its
// bytes in base64 and their media type.
type Image struct{ URL, Type, Data string }

// Parts returns what message i of req says, without empty texts. The
// errors are the client's: a picture that is neither an address nor base64.
func Parts(req *llm.Request, i int) ([]Part, error) {
	m := &req.Messages[i]
	content := gjson.GetBytes(m.Raw, "content")
	if !content.IsArray() {
		if m.Content == "" {
			return nil, nil
		}
		return []Part{{Text: m.Content}}, nil
	}
	var parts []Part
	for j, p := range content.Array() {
		switch p.Get("type").String() {
		case "image_url":
			image, err := readImage(p.Get("image_url.url").String(), fmt.Sprintf("messages[%d].content[%d].image_url.url", i, j))
			if err != nil {
				return nil, err
			}
			parts = append(parts, Part{Image: image})
		case "text", "refusal":
			if text := p.Get(p.Get("type").String()).String(); text != "" {
				parts = append(parts, Part{Text: text})
			}
		}
	}
	return parts, nil
}

func readImage(address, path string) (*Image, error) {
	data, ok := strings.CutPrefix(address, "data:")
	if !ok {
		if u, err := url.Parse(address); err != nil || u.Host == "" {
			return nil, llm.Invalid(path, "invalid_value", "Invalid '%s': expected an address or a data: URL.", path)
		}
		return &Image{URL: address}, nil
	}
	head, data, _ := strings.Cut(data, ",")
	kind, ok := strings.CutSuffix(head, ";base64")
	if !ok || data == "" {
		return nil, llm.Invalid(path, "invalid_value", "Invalid '%s': expected the picture in base64.", path)
	}
	return &Image{Type: kind, Data: data}, nil
}

// InlineImage returns the error of a picture at an address, for backends that
// fetch none.
func InlineImage(i int) error {
	path := fmt.Sprintf("messages[%d].content", i)
	return llm.Invalid(path, "unsupported_value", "Pictures at an address are not supported with this model: send them as data: URLs.")
}

// Arguments returns the arguments of call j of message i of req, for
// backends that take them as an object. Text that is no object, which a model
// may have produced, is the client's error.
func Arguments(req *llm.Request, i, j int) ([]byte, error) {
	text := []byte(strings.TrimSpace(req.Messages[i].ToolCalls[j].Arguments))
	if len(text) == 0 {
		return []byte("{}"), nil
	}
	if text[0] != '{' || jsonscan.Valid(text, maxDepth) != nil {
		path := fmt.Sprintf("messages[%d].tool_calls[%d].function.arguments", i, j)
		return nil, llm.Invalid(path, "invalid_value", "Invalid '%s': expected the text of a JSON object.", path)
	}
	return text, nil
}

// CalledName returns the name of the function whose result message i of
// req is.
func CalledName(req *llm.Request, i int) string {
	result := &req.Messages[i]
	for j := i - 1; j >= 0 && result.Name == ""; j-- {
		for _, call := range req.Messages[j].ToolCalls {
			if call.ID == result.ToolCallID {
				return call.Name
			}
		}
	}
	return result.Name
}

// UseID returns the id of call j of message i of req. The older function_call
// has none, and gets one that ResultID gives to its result too.
func UseID(req *llm.Request, i, j int) string {
	if id := req.Messages[i].ToolCalls[j].ID; id != "" {
		return id
	}
	return fmt.Sprintf("call_%d_%d", i, j)
}

// ResultID returns the id of the call whose result message i of req is.
func ResultID(req *llm.Request, i int) string {
	if id := req.Messages[i].ToolCallID; id != "" {
		return id
	}
	for j := i - 1; j >= 0; j-- {
		if len(req.Messages[j].ToolCalls) > 0 {
			return UseID(req, j, 0)
		}
	}
	return ""
}

// CallID returns id or, if that is "", a new one.
func CallID(id string) string {
	if id == "" {
		return "call_" + rand.Text()
	}
	return id
}
