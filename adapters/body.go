package adapters

import (
	"encoding/json/jsontext"
	"math"
	"net/http"
	"strconv"

	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// AppendString appends s as a JSON string to dst. Bytes that are not UTF-8
// become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error says only that something was replaced
	return dst
}

// AppendStrings appends list as a JSON array of strings to dst.
func AppendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendString(dst, s)
	}
	return append(dst, ']')
}

// AppendMessages appends a conversation as OpenAI's messages of plain text to
// dst: role, content and, where they are set, name, tool_call_id, tool_calls.
func AppendMessages(dst []byte, messages []llm.Message) []byte {
	dst = append(dst, '[')
	for i := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendMessage(dst, &messages[i])
	}
	return append(dst, ']')
}

func appendMessage(dst []byte, m *llm.Message) []byte {
	dst = AppendString(append(dst, `{"role":`...), m.Role)
	dst = AppendString(append(dst, `,"content":`...), m.Content)
	if m.Name != "" {
		dst = AppendString(append(dst, `,"name":`...), m.Name)
	}
	if m.ToolCallID != "" {
		dst = AppendString(append(dst, `,"tool_call_id":`...), m.ToolCallID)
	}
	for i, call := range m.ToolCalls {
		sep := `,{"id":`
		if i == 0 {
			sep = `,"tool_calls":[{"id":`
		}
		dst = AppendString(append(dst, sep...), call.ID)
		dst = AppendString(append(dst, `,"type":"function","function":{"name":`...), call.Name)
		dst = AppendString(append(dst, `,"arguments":`...), call.Arguments)
		dst = append(dst, '}', '}')
	}
	if len(m.ToolCalls) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// AppendParam appends `,"name":value` to dst, with the value as the client
// spelled it, if the request has the setting; otherwise nothing, as many
// backends take null for a mistake. name is the backend's name for it.
func AppendParam(dst []byte, req *llm.Request, p llm.Param, name string) []byte {
	if req.Params[p] == "" {
		return dst
	}
	dst = AppendString(append(dst, ','), name)
	return append(append(dst, ':'), req.Params[p]...)
}

// Capped returns value, a JSON number or "", or most in place of a larger one.
func Capped(value string, most int) []byte {
	if x, err := strconv.ParseFloat(value, 64); err == nil && x > float64(most) {
		return strconv.AppendInt(nil, int64(most), 10)
	}
	return []byte(value)
}

// PostJSON returns the call that sends body to path. The empty Idempotency-Key
// is not sent: it lets net/http repeat a call on a kept connection that turned
// out to be closed before a byte of the answer came.
func PostJSON(path string, body []byte) Call {
	header := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": nil}
	return Call{Method: http.MethodPost, Path: path, Header: header, Body: body}
}

// PostGRPC returns the call of a method of gRPC, such as /package.Service/Method,
// with one message, for adapters whose framing is frame.GRPC.
func PostGRPC(method string, message []byte) Call {
	header := http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Idempotency-Key": nil}
	return Call{Method: http.MethodPost, Path: method, Header: header, Body: frame.AppendGRPC(nil, message)}
}

// Int returns the whole number that value, a JSON number, says; 0 for any other
// value. Python backends write some counts as 12.0.
func Int(value []byte) int {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0
	}
	if n, err := strconv.Atoi(string(value)); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil || f < -1e15 || f > 1e15 {
		return 0
	}
	return int(f)
}

// Float returns the number that value, a JSON number, says, infinite if it is too
// large; 0 for any other value.
func Float(value []byte) float64 {
	f, err := strconv.ParseFloat(string(value), 64)
	if err != nil && !math.IsInf(f, 0) || len(value) > 0 && value[0] > '9' { // ParseFloat also reads words
		return 0
	}
	return f
}

// IsNull reports whether value, a JSON value or nil for an absent one, is null
// or absent.
func IsNull(value []byte) bool { return len(value) == 0 || value[0] == 'n' }

// Text returns the text of a JSON string, "" for any other value.
func Text(value []byte) string {
	s, _ := jsonscan.Unquote(value)
	return s
}
