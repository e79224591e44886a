package frame

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
)

// message encodes one message. headers are pairs of name and text.
func message(payload string, headers ...string) []byte {
	var h []byte
	for i := 0; i < len(headers); i += 2 {
		h = append(append(h, byte(len(headers[i]))), headers[i]...)
		h = binary.BigEndian.AppendUint16(append(h, 7), uint16(len(headers[i+1])))
		h = append(h, headers[i+1]...)
	}
	return encode(payload, h)
}

func encode(payload string, headers []byte) []byte {
	m := binary.BigEndian.AppendUint32(nil, uint32(preludeSize+len(headers)+len(payload)+checksumSize))
	m = binary.BigEndian.AppendUint32(m, uint32(len(headers)))
	m = binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
	m = append(append(m, headers...), payload...)
	return binary.BigEndian.AppendUint32(m, crc32.ChecksumIEEE(m))
}

func TestAWSMessages(t *testing.T) {
	one := message(`{"a":1}`, ":message-type", "event", ":event-type", "messageStart", ":content-type", "application/json")
	two := message(`{"message":"no"}`, ":message-type", "exception", ":exception-type", "throttlingException")
	three := encode("", []byte("\x01a\x00\x01b\x01\x01c\x02x\x01d\x03xx\x01e\x04xxxx\x01f\x05xxxxxxxx\x01g\x06\x00\x01x\x01h\x0812345678\x01i\x091234567812345678"))
	in := string(one) + string(two) + string(three)
	for name, r := range chunkings([]byte(in)) {
		got, err := readAll(NewReader(AWS, r, 0))
		if want := `messageStart|{"a":1} throttlingException|{"message":"no"} `; strings.Join(got, " ") != want || err != io.EOF {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for n := range len(one) { // an end within a message is a cut
		for name, r := range chunkings([]byte(string(two) + string(one[:n]))) {
			got, err := readAll(NewReader(AWS, r, 0))
			if want := io.ErrUnexpectedEOF; len(got) != 1 || err != want && n > 0 {
				t.Errorf("%d bytes, %s: got %q, %v", n, name, got, err)
			}
		}
	}
}

func TestAWSCorruptMessages(t *testing.T) {
	f := func(in []byte, max int, want error) {
		t.Helper()
		for name, r := range chunkings(in) {
			if got, err := readAll(NewReader(AWS, r, max)); len(got) > 0 || !errors.Is(err, want) {
				t.Errorf("%s: got %q, %v; want %v", name, got, err, want)
			}
		}
	}
	good := message("payload", ":event-type", "x")
	for i := range good { // no byte may be another
		bad := append([]byte(nil), good...)
		bad[i] ^= 0x40
		f(bad, 0, ErrCorrupt)
	}
	f([]byte(`{"message":"this is no event stream"}`), 0, ErrCorrupt)
	f(encode("", []byte("\x05ab")), 0, ErrCorrupt)             // a name that is cut
	f(encode("", []byte("\x01a\x07\x00")), 0, ErrCorrupt)      // a length that is cut
	f(encode("", []byte("\x01a\x07\x00\x09x")), 0, ErrCorrupt) // a text that is cut
	f(encode("", []byte("\x01a\x0ax")), 0, ErrCorrupt)         // an unknown type
	f(message(strings.Repeat("x", 200)), 100, ErrTooLong)
}

// FuzzAWSHeaders gives the headers to the parser behind right checksums.
func FuzzAWSHeaders(f *testing.F) {
	f.Add([]byte("\x0b:event-type\x07\x00\x01x\x01a\x09"))
	f.Add([]byte("\x00\x06\xff\xff"))
	f.Fuzz(func(t *testing.T, headers []byte) {
		r := NewReader(AWS, strings.NewReader(string(encode("{}", headers))), 0)
		if fr, err := r.Next(); err == nil && string(fr.Data) != "{}" || err != nil && err != ErrCorrupt {
			t.Errorf("%q: %q, %v", headers, fr.Data, err)
		}
	})
}
