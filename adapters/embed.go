package adapters

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Embedder is implemented by adapters whose backends give embeddings. What such a
// backend takes is among Traits: input_ids in Accepts, EmbedBatch.
type Embedder interface {
	// EmbedRequest translates req into one call. It does not keep req.
	EmbedRequest(req *llm.EmbedRequest) (Call, error)

	// ReadEmbeddings reads the 2xx answer to the call for req. A failure that the
	// backend reports in it is returned as an *llm.Error; any other error means that
	// the answer could not be understood. How many vectors there must be is checked
	// by the caller.
	ReadEmbeddings(req *llm.EmbedRequest, answer []byte) (*llm.Embeddings, error)
}

// Vector reads an embedding: a JSON list of numbers, or the base64 of numbers of
// 32 bits, the lowest byte first. value is out of data that CheckJSON accepted.
func Vector(value []byte) ([]float32, error) {
	switch {
	case len(value) > 0 && value[0] == '"':
		return decodeVector(jsonscan.AppendUnquoted(nil, value))
	case len(value) == 0 || value[0] != '[':
		return nil, fmt.Errorf("an embedding that is neither a list nor a string: %s", Clip(value, 64))
	}
	v := make([]float32, 0, 1024)
	for number := range jsonscan.Elements(value) {
		x, err := strconv.ParseFloat(string(number), 32)
		if err != nil || number[0] > '9' { // ParseFloat also reads words
			return nil, fmt.Errorf("an embedding with %s in it", Clip(number, 64))
		}
		v = append(v, float32(x))
	}
	return slices.Clip(v), nil
}

func decodeVector(text []byte) ([]float32, error) {
	data, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(data)%4 != 0 {
		return nil, fmt.Errorf("an embedding that is not the base64 of 32-bit numbers: %s", Clip(text, 64))
	}
	v := make([]float32, len(data)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if x := float64(v[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("an embedding with %v in it", x)
		}
	}
	return v, nil
}

// Vectors reads a list of embeddings, each as of Vector.
func Vectors(list []byte) ([][]float32, error) {
	var all [][]float32
	for value := range jsonscan.Elements(list) {
		v, err := Vector(value)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// ReadOpenAIEmbeddings reads an answer in OpenAI's form, by the indexes of its
// embeddings where it has some. The caller has not checked the JSON.
func ReadOpenAIEmbeddings(answer []byte) (*llm.Embeddings, error) {
	if err := CheckJSON(answer); err != nil {
		return nil, err
	}
	made := &llm.Embeddings{}
	for name, value := range jsonscan.All(answer) {
		var err error
		switch string(name) {
		case "data":
			made.Vectors, err = readIndexed(value)
		case "usage":
			for name, value := range jsonscan.All(value) {
				if string(name) == "prompt_tokens" {
					made.PromptTokens = Int(value)
				}
			}
		case "error":
			if !IsNull(value) {
				err = ReadProblem(value).Failure(0)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	return made, nil
}

// readIndexed reads OpenAI's list of embeddings. Equal indexes leave the order as
// it is: there are servers that write 0 everywhere.
func readIndexed(list []byte) ([][]float32, error) {
	type indexed struct {
		index  int
		vector []float32
	}
	var all []indexed
	for element := range jsonscan.Elements(list) {
		one := indexed{index: len(all)}
		for name, value := range jsonscan.All(element) {
			var err error
			switch string(name) {
			case "index":
				one.index = Int(value)
			case "embedding":
				one.vector, err = Vector(value)
			}
			if err != nil {
				return nil, err
			}
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b indexed) int { return cmp.Compare(a.index, b.index) })
	vectors := make([][]float32, len(all))
	for i := range all {
		vectors[i] = all[i].vector
	}
	return vectors, nil
}

// EmbedInput returns the inputs of req in OpenAI's form: a list of strings, or the
// token ids as the client spelled them.
func EmbedInput(req *llm.EmbedRequest) []byte {
	if req.Tokens != nil {
		return req.Tokens
	}
	return AppendStrings(nil, req.Texts)
}
