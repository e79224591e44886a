package bedrock

import (
	"bytes"
	"encoding/binary"
	"flag"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

func TestContract(t *testing.T) {
	checkStreams(t)
	adaptertest.Run(t, Adapter{}, "testdata")
}

// checkStreams compares each binary NAME.stream with NAME.frames.txt, which a
// person can read: lines of an event's type and its payload. With -update it
// makes the one from the other.
func checkStreams(t *testing.T) {
	t.Helper()
	texts, err := filepath.Glob("testdata/*.frames.txt")
	if err != nil || len(texts) == 0 {
		t.Fatalf("no frames (%v)", err)
	}
	update := flag.Lookup("update").Value.String() == "true"
	for _, path := range texts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for line := range strings.Lines(string(text)) {
			name, payload, _ := strings.Cut(strings.TrimSpace(line), " ")
			want = append(want, encode(name, payload)...)
		}
		binaryPath := strings.TrimSuffix(path, ".frames.txt") + ".stream"
		if update {
			if err := os.WriteFile(binaryPath, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(binaryPath); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s does not say what %s says (%v)", binaryPath, path, err)
		}
	}
}

// encode makes one message of the event stream encoding.
func encode(name, payload string) []byte {
	kind, header := "event", ":event-type"
	if strings.HasSuffix(name, "Exception") {
		kind, header = "exception", ":exception-type"
	}
	var headers []byte
	for _, h := range [][2]string{{header, name}, {":content-type", "application/json"}, {":message-type", kind}} {
		headers = append(append(headers, byte(len(h[0]))), h[0]...)
		headers = binary.BigEndian.AppendUint16(append(headers, 7), uint16(len(h[1])))
		headers = append(headers, h[1]...)
	}
	m := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(payload)))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), payload...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}

func FuzzDecode(f *testing.F) {
	f.Add("contentBlockStart", []byte(`{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"t1","name":"f"}}}`), []byte(`{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{"}}}`))
	f.Add("messageStop", []byte(`{"stopReason":"malformed_tool_use"}`), []byte(`{"delta":{"text":"x","reasoningContent":{"text":"y"}}}`))
	f.Add("metadata", []byte(`{"usage":{"inputTokens":-9}}`), []byte(`{}`))
	f.Add("modelStreamErrorException", []byte(`{"originalMessage":"x"}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, name string, one, two []byte) {
		d := Adapter{}.Decoder(nil)
		calls := 0
		for _, fr := range []frame.Frame{{Event: name, Data: one}, {Event: "contentBlockDelta", Data: two}, {Event: "messageStop", Data: one}} {
			events, _ := d.Decode(nil, fr)
			for _, ev := range events {
				if ev.Tool != nil && ev.Tool.ID != "" {
					calls++
				}
				if ev.Tool != nil && ev.Tool.Index >= calls || ev.Usage.Prompt < 0 {
					t.Errorf("%s %q, %q: %+v", name, one, two, ev)
				}
			}
		}
	})
}

// A name out of a client's request does not lead elsewhere.
func TestModelStaysInItsPlace(t *testing.T) {
	call, err := Adapter{}.Request(&llm.Request{Model: "../a?b"})
	if err != nil || call.Path != "/model/..%2Fa%3Fb/converse-stream" {
		t.Errorf("got %s, %v", call.Path, err)
	}
	if _, err := (Adapter{}).Request(&llm.Request{Model: ".."}); err == nil {
		t.Error("the name .. was taken")
	}
}
