package triton

import (
	"encoding/binary"
	"errors"
	"fmt"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/protobuf"
)

// Decoder implements adapters.Adapter.
func (*Adapter) Decoder(*llm.Request) adapters.Decoder { return &decoder{} }

type decoder struct {
	names    [][]byte // of the outputs of one response
	contents [][]byte // what they hold, in the same order
	tokens   int      // of the responses so far, as each tells its own
	spoke    bool
	finished bool
}

// Fields of ModelStreamInferResponse, of ModelInferResponse and of
// InferOutputTensor.
const (
	streamError, streamResponse = 1, 2

	responseParameters, responseOutputs, responseContents = 4, 5, 6

	outputName = 1
)

// Decode implements adapters.Decoder. An error message is Triton's without
// triton_grpc_error, which older ones do not know, and for a request that it did
// not begin with.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	var response []byte
	fields := protobuf.Read(fr.Data)
	for fields.Next() {
		switch {
		case fields.Number == streamError && len(fields.Bytes) > 0:
			return dst, adapters.Problem{Message: string(fields.Bytes)}.Failure(0)
		case fields.Number == streamResponse:
			response = fields.Bytes
		}
	}
	if err := fields.Err(); err != nil {
		return dst, err
	}
	last, err := d.read(response)
	if err != nil {
		return dst, err
	}
	ev, err := d.event()
	if err != nil {
		return dst, err
	}
	d.spoke = d.spoke || len(ev.Text) > 0
	if last && ev.Finish == "" && !d.finished && d.spoke {
		ev.Finish = llm.FinishStop
	}
	d.finished = d.finished || ev.Finish != ""
	if len(d.names) == 0 && ev.Finish == "" {
		return dst, nil
	}
	return append(dst, ev), nil
}

// read notes the outputs of a response, and reports whether it is the last one.
func (d *decoder) read(response []byte) (last bool, err error) {
	d.names, d.contents = d.names[:0], d.contents[:0]
	fields := protobuf.Read(response)
	for fields.Next() {
		switch fields.Number {
		case responseParameters:
			last = last || isFinal(fields.Bytes)
		case responseOutputs:
			d.names = append(d.names, find(fields.Bytes, outputName))
		case responseContents:
			d.contents = append(d.contents, fields.Bytes)
		}
	}
	if err := fields.Err(); err != nil {
		return last, err
	}
	if len(d.contents) != len(d.names) {
		return last, fmt.Errorf("%d outputs with %d raw contents", len(d.names), len(d.contents))
	}
	return last, nil
}

// find returns the bytes of one field of a message.
func find(message []byte, number int) (found []byte) {
	for fields := protobuf.Read(message); fields.Next(); {
		if fields.Number == number {
			found = fields.Bytes
		}
	}
	return found
}

// isFinal reports whether a parameter, an entry of a map, says that this is the
// last response.
func isFinal(entry []byte) bool {
	if string(find(entry, 1)) != "triton_final_response" {
		return false
	}
	for fields := protobuf.Read(find(entry, 2)); fields.Next(); {
		if fields.Number == parameterBool {
			return fields.Int != 0
		}
	}
	return false
}

// event returns what the outputs say.
func (d *decoder) event() (ev llm.Event, err error) {
	for i, name := range d.names {
		contents := d.contents[i]
		switch string(name) {
		case "text_output":
			if ev.Text, err = element(contents); err != nil {
				return ev, err
			}
		case "finish_reason":
			word, err := element(contents)
			if err != nil {
				return ev, err
			}
			if string(word) != "None" && len(word) > 0 { // Python's None: it goes on
				if ev.Finish, err = adapters.FinishWord(string(word), nil); err != nil {
					return ev, err
				}
			}
		case "num_input_tokens":
			ev.Usage.Prompt, ev.Usage.Has = count(contents), true
		case "num_output_tokens": // of this response alone
			d.tokens += count(contents)
			ev.Usage.Completion, ev.Usage.Has = d.tokens, true
		}
	}
	return ev, nil
}

var errElement = errors.New("a text that is longer than its tensor")

// element returns the first string of a tensor.
func element(contents []byte) ([]byte, error) {
	if len(contents) == 0 {
		return nil, nil
	}
	if len(contents) < 4 {
		return nil, errElement
	}
	size, text := binary.LittleEndian.Uint32(contents), contents[4:]
	if uint64(size) > uint64(len(text)) {
		return nil, errElement
	}
	return text[:size], nil
}

// count returns the first number of a tensor of UINT32 or INT32.
func count(contents []byte) int {
	if len(contents) < 4 {
		return 0
	}
	return int(max(int32(binary.LittleEndian.Uint32(contents)), 0))
}
