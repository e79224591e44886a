// Package prototest lets the cases of adapters that speak gRPC be text that a
// person can read. Google's own library turns the text into messages and messages
// into text, so it also checks what the adapters write and read by hand.
package prototest

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/frame"
)

// Form returns the form of cases whose answers are a message called reply in each
// line, and whose calls hold a message called request. Both are described in the
// file at path, a FileDescriptorProto as text.
func Form(t *testing.T, path, request, reply string) adaptertest.Form {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var described descriptorpb.FileDescriptorProto
	if err := prototext.Unmarshal(source, &described); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	file, err := protodesc.NewFile(&described, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	message := func(name string) protoreflect.MessageDescriptor {
		found := file.Messages().ByName(protoreflect.Name(name))
		if found == nil {
			t.Fatalf("%s: no message %s", path, name)
		}
		return found
	}
	return adaptertest.Form{
		Answer: func(t *testing.T, text []byte) []byte { return encode(t, message(reply), text) },
		Body:   func(t *testing.T, body []byte) string { return decode(t, message(request), body) },
	}
}

// encode returns the frames that the lines of text describe.
func encode(t *testing.T, kind protoreflect.MessageDescriptor, text []byte) []byte {
	t.Helper()
	var frames []byte
	for line := range strings.Lines(string(text)) {
		m := dynamicpb.NewMessage(kind)
		if err := prototext.Unmarshal([]byte(line), m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		message, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		frames = frame.AppendGRPC(frames, message)
	}
	return frames
}

// unstable are the spaces that prototext strews in so that nobody relies on them.
var unstable = regexp.MustCompile(`(?m)^(\s*\w+:?) +`)

// decode returns the one message of body as text.
func decode(t *testing.T, kind protoreflect.MessageDescriptor, body []byte) string {
	t.Helper()
	r := frame.NewReader(frame.GRPC, strings.NewReader(string(body)), 0)
	fr, err := r.Next()
	if err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	m := dynamicpb.NewMessage(kind)
	if err := proto.Unmarshal(fr.Data, m); err != nil {
		t.Fatalf("%q: %v", fr.Data, err)
	}
	if fr, err := r.Next(); err == nil {
		t.Errorf("a second message: %q", fr.Data)
	}
	text := prototext.MarshalOptions{Multiline: true, EmitUnknown: true}.Format(m)
	return strings.TrimSuffix(unstable.ReplaceAllString(text, "$1 "), "\n")
}
