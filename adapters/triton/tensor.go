package triton

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
)

// tensor is an input in the raw form: elements one after the other, numbers in
// little endian, strings after their length in four bytes.
type tensor struct {
	datatype string
	count    int // of its elements, less than 128
	contents []byte
}

// tensorOf makes a tensor of the JSON value that is called name. A value with no
// such form, which no adapter of ours sends, is an error.
func tensorOf(name string, value []byte) (tensor, error) {
	t := tensor{datatype: "BYTES", count: 1}
	switch value[0] {
	case '"':
		t.contents = appendText(nil, value)
		return t, nil
	case 't':
		return tensor{"BOOL", 1, []byte{1}}, nil
	case 'f':
		return tensor{"BOOL", 1, []byte{0}}, nil
	case '[':
		t.count = 0
		for element := range jsonscan.Elements(value) {
			if element[0] != '"' || t.count == 127 {
				return t, fmt.Errorf("input %s: the list cannot be a tensor: %s", name, adapters.Clip(value, 80))
			}
			t.contents = appendText(t.contents, element)
			t.count++
		}
		return t, nil
	case '{', 'n':
		return t, fmt.Errorf("input %s: no tensor holds %s", name, adapters.Clip(value, 80))
	}
	return number(name, string(value))
}

// appendText appends a string of a tensor.
func appendText(dst, value []byte) []byte {
	at := len(dst)
	dst = jsonscan.AppendUnquoted(append(dst, 0, 0, 0, 0), value)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// datatypes are those of numbers by the names of inputs, without the prefix that
// the LLM API's models have. Others are FP32.
var datatypes = map[string]string{"max_tokens": "INT32", "min_tokens": "INT32", "top_k": "INT32", "seed": "UINT64"}

func number(name, value string) (tensor, error) {
	datatype := datatypes[strings.TrimPrefix(name, "sampling_param_")]
	f, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return tensor{}, fmt.Errorf("input %s: %w", name, err)
	}
	switch datatype {
	case "INT32":
		n := int32(min(max(f, math.MinInt32), math.MaxInt32))
		return tensor{datatype, 1, binary.LittleEndian.AppendUint32(nil, uint32(n))}, nil
	case "UINT64":
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return tensor{}, fmt.Errorf("input %s: %w", name, err)
		}
		return tensor{datatype, 1, binary.LittleEndian.AppendUint64(nil, n)}, nil
	}
	return tensor{"FP32", 1, binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(f)))}, nil
}
