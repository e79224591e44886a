package frame

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// chunkings returns readers of the same bytes: in one read, byte by byte, with
// the end in the last read, and cut at up to 20 random places.
func chunkings(data []byte) map[string]io.Reader {
	m := map[string]io.Reader{
		"whole":    bytes.NewReader(data),
		"bytes":    iotest.OneByteReader(bytes.NewReader(data)),
		"data+EOF": iotest.DataErrReader(bytes.NewReader(data)),
	}
	for seed := range uint64(3) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var parts []io.Reader
		rest := data
		for len(rest) > 0 && len(parts) < 20 {
			n := 1 + rnd.IntN(len(rest))/2
			parts, rest = append(parts, bytes.NewReader(rest[:n])), rest[n:]
		}
		m[fmt.Sprintf("cuts%d", seed)] = io.MultiReader(append(parts, bytes.NewReader(rest))...)
	}
	return m
}

// readAll returns the frames in a form that is easy to compare: "data" or
// "name|data", and the error at the end.
func readAll(r *Reader) (frames []string, err error) {
	for {
		fr, err := r.Next()
		if err != nil {
			if _, again := r.Next(); again != err {
				return frames, fmt.Errorf("%v, then %v", err, again)
			}
			return frames, err
		}
		s := string(fr.Data)
		if fr.Event != "" {
			s = fr.Event + "|" + s
		}
		r.Buffered() // must not disturb the frame
		if !strings.HasSuffix(s, string(fr.Data)) {
			return frames, errors.New("Buffered changed the frame")
		}
		frames = append(frames, s)
	}
}

func TestFrames(t *testing.T) {
	f := func(kind Kind, in string, wantErr error, want ...string) {
		t.Helper()
		for name, r := range chunkings([]byte(in)) {
			got, err := readAll(NewReader(kind, r, 0))
			if !errors.Is(err, wantErr) || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%v %q, %s: got %q, %v; want %q, %v", kind, in, name, got, err, want, wantErr)
			}
		}
	}
	cut := io.ErrUnexpectedEOF

	// Server-sent events: line ends, the optional space, comments, names.
	f(SSE, "data: a\n\ndata:b\r\n\r\ndata:  c\r\rdata\n\n", io.EOF, "a", "b", " c")
	f(SSE, "\ufeffdata: a\n\n: ping\n\n\n\ndata: b\n\n", io.EOF, "a", "b")
	f(SSE, "data: a\n:ping\ndata: b\ndata:\ndata: c\n\n", io.EOF, "a\nb\n\nc")
	f(SSE, "event: x\ndata: a\n\ndata: b\n\nevent: y\n\nid: 1\nretry: 5\ndata:c\n\nevent: y\ndata:\n\n", io.EOF, "x|a", "b", "c", "y|")
	f(SSE, "data:\n\ndata: \n\n", io.EOF)
	f(SSE, "data: a\r\n\r\ndata: b\n\rdata: c\r\n\n", io.EOF, "a", "b", "c")
	f(SSE, "data: a\r\ndata: b\r\n\r\ndata: c\rdata: d\r\r", io.EOF, "a\nb", "c\nd")
	f(SSE, "data: last", io.EOF, "last")
	f(SSE, "data: {\"a\":1}", io.EOF, `{"a":1}`)
	f(SSE, "data: x\n\ndata: {\"a\":", cut, "x")
	f(SSE, "data: x\n\ndata: [DO", cut, "x")
	f(SSE, "data: x\n\nda", cut, "x")
	f(SSE, "", io.EOF)
	f(SSE, "nonsense\n\ndata: a\n\n", io.EOF, "a")
	// Errors that are no events.
	f(SSE, "error: {\"code\":1}\n\n", io.EOF, `error|{"code":1}`)
	f(SSE, "data: a\n\n{\"error\":\"x\"}\ndata: b\n\n", io.EOF, "a", `{"error":"x"}`, "b")
	f(SSE, "{\n  \"error\": {\"m\": \"a}\"}\n}\n", io.EOF, "{\n  \"error\": {\"m\": \"a}\"}\n}")
	f(SSE, "{\"error\":\"x\"}", io.EOF, `{"error":"x"}`)
	f(SSE, "{\"error\":", cut)
	f(SSE, "{ open\n\ndata: a\n\n", io.EOF, "a")

	// Records that end with LF or NUL (BC-024, BC-029).
	f(NDJSON, "{\"a\":1}\n{\"b\":2}\r\n\n\x00 \n{\"c\":\"\\u0000\"}\x00{}\x00\x00", io.EOF, `{"a":1}`, `{"b":2}`, `{"c":"\u0000"}`, `{}`)
	f(NDJSON, "{\"a\":1}\n{\"b\":2}", io.EOF, `{"a":1}`, `{"b":2}`)
	f(NDJSON, "{\"a\":1}\n{\"b\":", cut, `{"a":1}`)
	f(NDJSON, "\"a\"\nnull\n\"b", cut, `"a"`, "null")
	f(NDJSON, "{}\ninternal failure, try later", io.EOF, "{}", "internal failure, try later")
	f(NDJSON, "\ufeff{}\n", io.EOF, "{}")

	// Values back to back.
	f(JSON, `{"a":"}{\"\\"}{"b":[1,{}]}`, io.EOF, `{"a":"}{\"\\"}`, `{"b":[1,{}]}`)
	f(JSON, "[{\"a\":1},\n{\"b\":[]}\n]", io.EOF, `{"a":1}`, `{"b":[]}`)
	f(JSON, "[[1],[2]][3] {}\x00{}\x1e{}\n", io.EOF, "[1]", "[2]", "3", "{}", "{}", "{}")
	f(JSON, `1 -2.5e3,"x""y"true null`, io.EOF, "1", "-2.5e3", `"x"`, `"y"`, "true", "null")
	f(JSON, `{}{"a":`, cut, "{}")
	f(JSON, `[{},`, cut, "{}")
	f(JSON, `"abc`, cut)
	f(JSON, "{}\nInternal error, try later\n{}", io.EOF, "{}", "Internal error, try later", "{}")
	f(JSON, "  ", io.EOF)

	f(Lines, "a\n\n b \r\nlast", io.EOF, "a", "", " b ", "last")
	f(Whole, "{\n}\n", io.EOF, "{\n}\n")
	f(Whole, "", io.EOF)
}

// A frame that was cut by a reset is not delivered; whole ones before it are.
func TestFramesBeforeAReset(t *testing.T) {
	reset := errors.New("connection reset")
	f := func(kind Kind, in string, want ...string) {
		t.Helper()
		for name, r := range chunkings([]byte(in)) {
			got, err := readAll(NewReader(kind, io.MultiReader(r, iotest.ErrReader(reset)), 0))
			if err != reset || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
				t.Errorf("%v %q, %s: got %q, %v; want %q", kind, in, name, got, err, want)
			}
		}
	}
	f(SSE, "data: a\n\ndata: b\n", "a")
	f(NDJSON, "{}\n{}", "{}")
	f(JSON, "{}12", "{}")
	f(Lines, "a\nb", "a")
	f(Whole, "abc")
	got, err := readAll(NewReader(Raw, iotest.DataErrReader(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(reset))), 0))
	if err != reset || strings.Join(got, "") != "ab" {
		t.Errorf("raw: got %q, %v", got, err)
	}
}

func TestRawLosesNothing(t *testing.T) {
	in := strings.Repeat("日本語\x00\r\n", 3000)
	for name, r := range chunkings([]byte(in)) {
		got, err := readAll(NewReader(Raw, r, 16))
		if err != io.EOF || strings.Join(got, "") != in {
			t.Errorf("%s: %d bytes, %v", name, len(strings.Join(got, "")), err)
		}
	}
}

// BC-030: long frames arrive whole, too long ones are an error that names the
// limit, and nothing comes after it.
func TestLimit(t *testing.T) {
	f := func(kind Kind, frame string) {
		t.Helper()
		in := frame + frame
		for name, r := range chunkings([]byte(in)) {
			if got, err := readAll(NewReader(kind, r, len(frame))); err != io.EOF || len(got) != 2 {
				t.Errorf("%v, %s, at the limit: %d frames, %v", kind, name, len(got), err)
			}
		}
		for name, r := range chunkings([]byte(in)) {
			got, err := readAll(NewReader(kind, r, len(frame)-1))
			if !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), fmt.Sprint(len(frame)-1)) || len(got) != 0 {
				t.Errorf("%v, %s, over the limit: %d frames, %v", kind, name, len(got), err)
			}
		}
	}
	x := strings.Repeat("x", 300_000)
	f(SSE, "data: "+x+"\n\n")
	f(NDJSON, `"`+x+"\"\n")
	f(JSON, `{"`+x+`":[]}`)
	f(Lines, x+"\n")
	if _, err := readAll(NewReader(Whole, strings.NewReader(x), 1000)); !errors.Is(err, ErrTooLong) {
		t.Errorf("whole: %v", err)
	}
}

// Comments may keep a silent answer alive for hours.
func TestCommentsNeedNoMemory(t *testing.T) {
	r := NewReader(SSE, strings.NewReader(strings.Repeat(": ping\n", 100_000)+"data: a\n\n"), 100)
	if got, err := readAll(r); err != io.EOF || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
	if len(r.buf) > firstBuffer {
		t.Errorf("buffer grew to %d bytes", len(r.buf))
	}
}

func TestReaderThatNeverReads(t *testing.T) {
	if _, err := NewReader(SSE, readFunc(func([]byte) (int, error) { return 0, nil }), 0).Next(); err != io.ErrNoProgress {
		t.Errorf("got %v", err)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// loop repeats the same bytes for ever.
func loop(s string) io.Reader {
	at := 0
	return readFunc(func(p []byte) (int, error) {
		n := copy(p, s[at:])
		at = (at + n) % len(s)
		return n, nil
	})
}

var steady = map[Kind]string{
	SSE:    "event: message\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"}}]}\n\n",
	NDJSON: "{\"message\":{\"role\":\"assistant\",\"content\":\" word\"},\"done\":false}\x00",
	JSON:   "{\"message\":{\"role\":\"assistant\",\"content\":\" word\"},\"done\":false}",
	Lines:  " some words\n",
	Raw:    " some words",
}

func TestNothingAllocatedPerFrame(t *testing.T) {
	for kind, s := range steady {
		r := NewReader(kind, loop(s), 0)
		next := func() {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		next()
		if n := testing.AllocsPerRun(1000, next); n != 0 {
			t.Errorf("%v: %v allocations per frame", kind, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for kind, s := range steady {
		b.Run(kind.String(), func(b *testing.B) {
			r := NewReader(kind, loop(s), 0)
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
