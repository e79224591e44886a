package adaptertest

import (
	"bytes"
	"strconv"
	"strings"

	"dragoman/adapters/stream/wstest"
)

// messages returns what a server sends whose messages are the lines of file, and
// the offsets behind them that frameEnds wants. A line "close CODE WORDS" is how
// the server closes the connection.
func messages(file []byte) (sent []byte, ends []int) {
	for line := range bytes.Lines(file) {
		ends = append(ends, len(sent))
		text := string(bytes.TrimSuffix(line, []byte("\n")))
		if code, ok := strings.CutPrefix(text, "close "); ok {
			code, words, _ := strings.Cut(code, " ")
			if n, err := strconv.ParseUint(code, 10, 16); err == nil {
				sent = append(sent, wstest.Close(uint16(n), words)...)
				continue
			}
		}
		sent = append(sent, wstest.Message(text)...)
	}
	return sent, ends
}
