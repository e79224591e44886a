package frame

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// ErrCorrupt says that a binary message is not what its checksums say.
var ErrCorrupt = errors.New("frame is corrupt: wrong length or checksum")

const (
	preludeSize  = 12 // total length, length of the headers, checksum of these two
	checksumSize = 4  // of the whole message, at its end
)

// cutMessage cuts a message of AWS's event stream encoding: prelude, headers,
// payload, checksum, with numbers in big endian. The frame's event is the kind
// of event or exception that the headers name.
func (r *Reader) cutMessage() {
	rest := r.rest()
	if len(rest) < preludeSize {
		return
	}
	size, headers := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
	if crc32.ChecksumIEEE(rest[:8]) != binary.BigEndian.Uint32(rest[8:]) ||
		size < preludeSize+checksumSize || headers > size-preludeSize-checksumSize {
		r.fail(ErrCorrupt)
		return
	}
	if uint64(size) > uint64(r.max) {
		r.tooLong()
		return
	}
	if uint64(len(rest)) < uint64(size) {
		return
	}
	message := rest[:size]
	end := len(message) - checksumSize
	name, ok := r.messageName(message[preludeSize : preludeSize+headers])
	if !ok || crc32.ChecksumIEEE(message[:end]) != binary.BigEndian.Uint32(message[end:]) {
		r.fail(ErrCorrupt)
		return
	}
	r.deliver(name, message[preludeSize+headers:end], len(message))
}

// headerSizes are the sizes of header values by type: true, false, integers of
// 1, 2, 4 and 8 bytes, bytes, text, time, UUID. -1 is told by two bytes before it.
var headerSizes = [...]int{0, 0, 1, 2, 4, 8, -1, -1, 8, 16}

// messageName returns what the headers say that the message is, and whether
// they are headers.
func (r *Reader) messageName(headers []byte) (name string, ok bool) {
	for len(headers) > 0 {
		n := int(headers[0])
		if len(headers) < n+2 {
			return "", false
		}
		header, kind := headers[1:1+n], int(headers[1+n])
		headers = headers[n+2:]
		if kind >= len(headerSizes) {
			return "", false
		}
		size := headerSizes[kind]
		if size < 0 {
			if len(headers) < 2 {
				return "", false
			}
			size = int(binary.BigEndian.Uint16(headers))
			headers = headers[2:]
		}
		if len(headers) < size {
			return "", false
		}
		switch string(header) {
		case ":event-type", ":exception-type", ":error-code":
			name = r.events.intern(headers[:size])
		}
		headers = headers[size:]
	}
	return name, true
}

// lastMessage finds that an answer ended in the middle of a message.
func (r *Reader) lastMessage() {
	if r.pos < r.end {
		r.fail(io.ErrUnexpectedEOF)
	}
}
