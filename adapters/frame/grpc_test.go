package frame

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestGRPCMessages(t *testing.T) {
	one, two := AppendGRPC(nil, []byte("\xef\xbb\xbfhi\n")), AppendGRPC(nil, nil) // no byte order mark is looked for
	in := string(one) + string(two) + string(one)
	for name, r := range chunkings([]byte(in)) {
		got, err := readAll(NewReader(GRPC, r, 0))
		if want := "\xef\xbb\xbfhi\n,,\xef\xbb\xbfhi\n"; strings.Join(got, ",") != want || err != io.EOF {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	for n := range len(one) { // an end within a message is a cut
		for name, r := range chunkings([]byte(string(two) + string(one[:n]))) {
			got, err := readAll(NewReader(GRPC, r, 0))
			if want := io.ErrUnexpectedEOF; len(got) != 1 || err != want && n > 0 {
				t.Errorf("%d bytes, %s: got %q, %v", n, name, got, err)
			}
		}
	}
}

func TestWhatIsNoGRPCMessage(t *testing.T) {
	f := func(in string, max int, want error, frames ...string) {
		t.Helper()
		for name, r := range chunkings([]byte(in)) {
			got, err := readAll(NewReader(GRPC, r, max))
			if strings.Join(got, ",") != strings.Join(frames, ",") || !errors.Is(err, want) {
				t.Errorf("%s: got %q, %v; want %q, %v", name, got, err, frames, want)
			}
		}
	}
	good := string(AppendGRPC(nil, []byte("good")))
	f(good+"\x01\x00\x00\x00\x02hi", 0, ErrNotPlain, "good") // compressed
	f("<html>no such page</html>", 0, ErrNotPlain)
	f("\x01", 0, ErrNotPlain) // known by the first byte
	f("\x00\xff\xff\xff\xff", 0, ErrTooLong)
	f(good+"\x00\x00\x80\x00\x00", 0, ErrTooLong, "good") // 8 MiB, and the prefix
	f(good, len(good), io.EOF, "good")
	f(good, len(good)-1, ErrTooLong)
}
