package frame

import (
	"encoding/binary"
	"errors"
)

// ErrNotPlain says that what should begin a message of gRPC begins a compressed
// one, which nobody asked for, or something else altogether.
var ErrNotPlain = errors.New("frame is compressed, or is no gRPC message")

const prefixSize = 5 // whether it is compressed, and the length

// cutPrefixed cuts a message of gRPC: a zero byte, the length in four bytes in
// big endian, the message.
func (r *Reader) cutPrefixed() {
	rest := r.rest()
	if rest[0] != 0 {
		r.fail(ErrNotPlain)
		return
	}
	if len(rest) < prefixSize {
		return
	}
	size := uint64(binary.BigEndian.Uint32(rest[1:])) + prefixSize
	if size > uint64(r.max) {
		r.tooLong()
		return
	}
	if uint64(len(rest)) >= size {
		r.deliver("", rest[prefixSize:size], int(size))
	}
}

// AppendGRPC appends message to dst as one frame of the framing GRPC, for the
// body of a request.
func AppendGRPC(dst, message []byte) []byte {
	dst = binary.BigEndian.AppendUint32(append(dst, 0), uint32(len(message)))
	return append(dst, message...)
}
