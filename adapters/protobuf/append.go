package protobuf

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// AppendText appends field number, a string, to the message in dst.
func AppendText(dst []byte, number int, value string) []byte {
	return protowire.AppendString(tag(dst, number, protowire.BytesType), value)
}

// AppendBytes appends field number, bytes or a whole message, to the message in
// dst.
func AppendBytes(dst []byte, number int, value []byte) []byte {
	return protowire.AppendBytes(tag(dst, number, protowire.BytesType), value)
}

// AppendInt appends field number, an int32 or int64, to the message in dst.
func AppendInt(dst []byte, number int, value int64) []byte {
	return protowire.AppendVarint(tag(dst, number, protowire.VarintType), uint64(value))
}

// AppendBool appends field number, a bool, to the message in dst.
func AppendBool(dst []byte, number int, value bool) []byte {
	return protowire.AppendVarint(tag(dst, number, protowire.VarintType), protowire.EncodeBool(value))
}

// AppendFloat appends field number, a float, to the message in dst.
func AppendFloat(dst []byte, number int, value float32) []byte {
	return protowire.AppendFixed32(tag(dst, number, protowire.Fixed32Type), math.Float32bits(value))
}

// AppendEntry appends an entry of the map that is field number to the message in
// dst. value is a whole message.
func AppendEntry(dst []byte, number int, key string, value []byte) []byte {
	return AppendBytes(dst, number, AppendBytes(AppendText(nil, 1, key), 2, value))
}

func tag(dst []byte, number int, typ protowire.Type) []byte {
	return protowire.AppendTag(dst, protowire.Number(number), typ)
}
