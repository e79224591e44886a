package protobuf

import "google.golang.org/protobuf/encoding/protowire"

// Fields walks over the fields of one message, in the order in which they were
// written. It allocates nothing.
type Fields struct {
	Number int    // of the current field
	Bytes  []byte // its value if it is a string, bytes, a message, or packed numbers: a part of the message
	Int    uint64 // its value if it is a number or a bool, as bits

	rest []byte
	err  error
}

// Read returns the fields of message, before the first.
func Read(message []byte) Fields { return Fields{rest: message} }

// Next goes to the next field and reports whether there is one. Of groups, which
// nobody writes any more, it sees nothing.
func (f *Fields) Next() bool {
	for len(f.rest) > 0 {
		number, typ, n := protowire.ConsumeTag(f.rest)
		if f.fail(n) {
			return false
		}
		value := f.rest[n:]
		f.Number, f.Bytes, f.Int = int(number), nil, 0
		switch typ {
		case protowire.VarintType:
			f.Int, n = protowire.ConsumeVarint(value)
		case protowire.BytesType:
			f.Bytes, n = protowire.ConsumeBytes(value)
		case protowire.Fixed32Type:
			var bits uint32
			bits, n = protowire.ConsumeFixed32(value)
			f.Int = uint64(bits)
		case protowire.Fixed64Type:
			f.Int, n = protowire.ConsumeFixed64(value)
		default:
			n = protowire.ConsumeFieldValue(number, typ, value)
		}
		if f.fail(n) {
			return false
		}
		f.rest = value[n:]
		if typ != protowire.StartGroupType {
			return true
		}
	}
	return false
}

// fail notes what n, a length, means if it is none, and reports whether it is.
func (f *Fields) fail(n int) bool {
	if n >= 0 {
		return false
	}
	f.err, f.rest = protowire.ParseError(n), nil
	return true
}

// Err returns why Next came to no proper end of the message, nil if it did.
func (f *Fields) Err() error { return f.err }
