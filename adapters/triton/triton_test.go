package triton

import (
	"strings"
	"testing"

	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/protobuf"
)

// response is a frame with outputs: pairs of name and raw contents.
func response(last bool, outputs ...string) []byte {
	var r []byte
	for i := 0; i < len(outputs); i += 2 {
		r = protobuf.AppendBytes(r, responseOutputs, protobuf.AppendText(nil, outputName, outputs[i]))
	}
	for i := 1; i < len(outputs); i += 2 {
		r = protobuf.AppendText(r, responseContents, outputs[i])
	}
	r = protobuf.AppendEntry(r, responseParameters, "triton_final_response", protobuf.AppendBool(nil, parameterBool, last))
	return protobuf.AppendBytes(nil, streamResponse, r)
}

func text(s string) string { return string(appendText(nil, []byte(`"`+s+`"`))) }

func TestBrokenResponses(t *testing.T) {
	f := func(data []byte) {
		t.Helper()
		d := &decoder{}
		if events, err := d.Decode(nil, frame.Frame{Data: data}); err == nil || len(events) > 0 {
			t.Errorf("%q: got %+v, %v", data, events, err)
		}
	}
	f(response(false, "text_output", "\x09\x00\x00\x00Hel")) // longer than the tensor
	f(response(false, "text_output", "\xff\xff\xff\xffHel"))
	f(response(false, "finish_reason", "\x01"))
	f([]byte("\x12\x05\x2a\x03\x0a\x01x")) // an output without contents
	f([]byte("\x12\x7f"))
	f([]byte("\x12\x02\x2a\x7f"))
	f([]byte("\x0a\x03no!"))
	f([]byte("no protobuf"))
}

func TestValuesThatAreNoTensors(t *testing.T) {
	for _, value := range []string{`{}`, `null`, `[1]`, `["a",{}]`, `-1`} {
		if got, err := tensorOf("seed", []byte(value)); err == nil {
			t.Errorf("%s: got %+v", value, got)
		}
	}
}

func TestNothingAllocated(t *testing.T) {
	fr := frame.Frame{Data: response(false, "text_output", text("Hel"), "finish_reason", text("None"), "num_output_tokens", "\x01\x00\x00\x00")}
	d := &decoder{}
	events, err := d.Decode(nil, fr)
	if err != nil || len(events) != 1 || string(events[0].Text) != "Hel" || events[0].Usage.Completion != 1 {
		t.Fatalf("got %+v, %v", events, err)
	}
	if n := testing.AllocsPerRun(100, func() { events, _ = d.Decode(events[:0], fr) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzDecode holds for any bytes: no count is negative, texts come out of the
// frame, and the last response finishes only what is not finished.
func FuzzDecode(f *testing.F) {
	f.Add(response(false, "text_output", text("Hel"), "num_input_tokens", "\xff\xff\xff\xff"), response(true))
	f.Add(response(false, "finish_reason", text("length")), response(true, "text_output", ""))
	f.Add([]byte("\x0a\x02no"), []byte("\x12\x00"))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		d := &decoder{}
		finished := false
		for i, data := range [][]byte{one, two, response(true)} {
			events, err := d.Decode(nil, frame.Frame{Data: data})
			if err != nil {
				return
			}
			for _, ev := range events {
				if i == 2 && finished && ev.Finish != "" || ev.Usage.Prompt < 0 || ev.Usage.Completion < 0 || len(ev.Text) > len(data) {
					t.Errorf("%q: %+v", data, ev)
				}
				finished = finished || ev.Finish != ""
			}
		}
	})
}

// FuzzTensor makes tensors of whatever values a body may hold.
func FuzzTensor(f *testing.F) {
	f.Add("max_tokens", `1e300`)
	f.Add("stop", `["a","\u6B63"]`)
	f.Fuzz(func(t *testing.T, name, value string) {
		if jsonscan.Valid([]byte(value), 10) == nil && !strings.HasPrefix(value, " ") {
			if got, err := tensorOf(name, []byte(value)); err == nil && (got.count > 127 || got.datatype == "") {
				t.Errorf("%s %s: %+v", name, value, got)
			}
		}
	})
}
