package frame

import "fmt"

// Kind is a way of cutting a byte stream into frames. It is a fact about a
// protocol, stated by its adapter and never guessed from a Content-Type.
type Kind uint8

// The framings.
const (
	SSE    Kind = iota + 1 // server-sent events: a frame is one event
	NDJSON                 // a frame is one JSON value, ended by LF or NUL
	JSON                   // JSON values back to back, with or without anything between
	Lines                  // a frame is one line of text
	Raw                    // a frame is whatever bytes have come
	Whole                  // the whole body is one frame
	AWS                    // binary messages of AWS's event stream encoding: a frame is one message's payload
	GRPC                   // binary messages of gRPC, over HTTP/2 and ended by trailers: a frame is one message
	WS                     // a WebSocket: a frame is one message; package stream reads it, as a Reader cannot
)

var kindNames = [...]string{
	SSE: "sse", NDJSON: "ndjson", JSON: "json", Lines: "lines", Raw: "raw", Whole: "whole", AWS: "aws", GRPC: "grpc", WS: "ws",
}

// Kinds returns the names of all framings, for messages and documentation.
func Kinds() []string { return kindNames[1:] }

// String returns the framing's name in configurations.
func (k Kind) String() string {
	if int(k) < len(kindNames) && k != 0 {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// ParseKind returns the framing with that name, and whether there is one.
func ParseKind(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n != "" && n == name {
			return Kind(k), true
		}
	}
	return 0, false
}

// Frame is one unit of a backend's answer. Data is valid until the next read.
type Frame struct {
	Event string // SSE and AWS only: the event's name, "" if it has none
	Data  []byte
}
