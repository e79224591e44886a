// Package wstest plays the server's side of a WebSocket as plain bytes, for
// tests that cut and break a connection where they like.
package wstest

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
)

// First bytes of frames (RFC 6455, 5.2).
const (
	Text, TextBegins = 0x81, 0x01 // a whole message; the beginning of one
	Binary           = 0x82
	Goes, Ends       = 0x00, 0x80 // a later part of a message; its last part
	Ping             = 0x89
)

// Frame returns data as one frame. first says which.
func Frame(first byte, data string) string {
	head := []byte{first}
	switch n := len(data); {
	case n < 126:
		head = append(head, byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, 126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, 127), uint64(n))
	}
	return string(head) + data
}

// Message returns data as a message of text in one frame.
func Message(data string) string { return Frame(Text, data) }

// Close returns the message that closes a WebSocket; code 0 is none.
func Close(code uint16, reason string) string {
	if code == 0 {
		return Frame(0x88, "")
	}
	return Frame(0x88, string(binary.BigEndian.AppendUint16(nil, code))+reason)
}

// Answer agrees to the handshake req. What the server says after that is read
// from conn, and what the client says is written to it.
func Answer(req *http.Request, conn io.ReadWriteCloser) *http.Response {
	sum := sha1.Sum([]byte(req.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return &http.Response{
		StatusCode: http.StatusSwitchingProtocols,
		Header: http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
			"Sec-Websocket-Accept": {base64.StdEncoding.EncodeToString(sum[:])},
		},
		Body: conn,
	}
}

// Deaf returns a connection on which r is what the server says, whatever the
// client does.
func Deaf(r io.Reader) io.ReadWriteCloser {
	return struct {
		io.ReadCloser
		io.Writer
	}{io.NopCloser(r), io.Discard}
}
