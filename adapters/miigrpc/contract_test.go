package miigrpc

import (
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/adaptertest/prototest"
	"dragoman/adapters/frame"
	"dragoman/adapters/protobuf"
)

func TestContract(t *testing.T) {
	form := prototest.Form(t, "testdata/messages.textproto", "MultiStringRequest", "MultiGenerationReply")
	adaptertest.RunForm(t, Adapter{}, "testdata", form)
}

// FuzzDecode holds for any bytes: no count is negative, and text comes from the frame.
func FuzzDecode(f *testing.F) {
	reply := protobuf.AppendText(protobuf.AppendText(nil, replyText, "Hel"), replyFinish, "length")
	f.Add(protobuf.AppendBytes(nil, repliesReply, protobuf.AppendInt(reply, replyTokens, -1)))
	f.Add(protobuf.AppendBytes(nil, repliesReply, protobuf.AppendText(nil, replyFinish, "none")))
	f.Add([]byte("\x0a\xff\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		events, err := Adapter{}.Decoder(nil).Decode(nil, frame.Frame{Data: data})
		if err != nil && len(events) > 0 {
			t.Errorf("%q: %v and %+v", data, err, events)
		}
		for _, ev := range events {
			if ev.Usage.Prompt < 0 || ev.Usage.Completion < 0 || len(ev.Text) > len(data) {
				t.Errorf("%q: %+v", data, ev)
			}
		}
	})
}

func TestNothingAllocated(t *testing.T) {
	reply := protobuf.AppendText(protobuf.AppendText(nil, replyText, "Hel"), replyFinish, "none")
	fr := frame.Frame{Data: protobuf.AppendBytes(nil, repliesReply, protobuf.AppendInt(reply, replyTokens, 3))}
	d := Adapter{}.Decoder(nil)
	events, err := d.Decode(nil, fr)
	if err != nil || len(events) != 1 || string(events[0].Text) != "Hel" {
		t.Fatalf("got %+v, %v", events, err)
	}
	if n := testing.AllocsPerRun(100, func() { d.Decode(events[:0], fr) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
