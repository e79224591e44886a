package openai

import (
	"crypto/rand"
	"strconv"

	"dragoman/adapters/llm"
)

// ModelInfo is what the model list says of one model.
type ModelInfo struct {
	ID      string
	Created int64 // seconds since 1970
	OwnedBy string
}

// AppendModels appends the model list.
func AppendModels(dst []byte, models []ModelInfo) []byte {
	dst = append(dst, `{"object":"list","data":[`...)
	for i, m := range models {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendModel(dst, m)
	}
	return append(dst, "]}"...)
}

// AppendModel appends the object of one model.
func AppendModel(dst []byte, m ModelInfo) []byte {
	dst = append(dst, `{"id":`...)
	dst = appendString(dst, m.ID)
	dst = append(dst, `,"object":"model","created":`...)
	dst = strconv.AppendInt(dst, m.Created, 10)
	dst = append(dst, `,"owned_by":`...)
	dst = appendString(dst, m.OwnedBy)
	return append(dst, '}')
}

// NewID returns a new identifier for an answer to a request of that kind.
func NewID(kind llm.Kind) string {
	if kind == llm.Completion {
		return "cmpl-" + rand.Text()
	}
	return "chatcmpl-" + rand.Text()
}
