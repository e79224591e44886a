package frame

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// FuzzFrames checks for every framing that the frames do not depend on how the
// bytes arrive, and compares them with a simple reading of the whole text.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		"data: a\r\ndata: b\r\n\r\nevent: x\ndata: b\ndata:c\n\n", "\ufeffdata: a\r\rdata", ": x\n\nerror: {}\n\n{\"e\":\n1}\n",
		"{\"a\":1}\n\x00{\"b\":[]}", "\x00\x00\x00\x00\x02hi\x00\x00\x00\x00\x00", "[1,{\"a\":\"\\\"]\"}]null true\nnot json\n", "a\r\n\nb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for kind := SSE; kind <= GRPC; kind++ {
			want, wantErr, known := reference(kind, in)
			for name, r := range chunkings([]byte(in)) {
				got, err := readAll(NewReader(kind, r, 0))
				if kind == Raw {
					got = []string{strings.Join(got, "")}
				}
				if !known {
					want, wantErr, known = got, err, true
				}
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
					t.Fatalf("%v %q, %s: got %q, %v; want %q, %v", kind, in, name, got, err, want, wantErr)
				}
			}
		}
	})
}

// reference reads the whole text in the plainest way. It does not know how the
// end of a cut text is judged, nor values back to back.
func reference(kind Kind, in string) (want []string, err error, known bool) {
	noBOM := strings.TrimPrefix(in, "\ufeff")
	switch kind {
	case SSE:
		return referenceEvents(noBOM)
	case NDJSON:
		records := strings.FieldsFunc(noBOM, func(r rune) bool { return r == '\n' || r == 0 })
		for _, record := range records {
			if s := strings.Trim(record, " \t\r"); s != "" {
				want = append(want, s)
			}
		}
		return want, io.EOF, strings.HasSuffix(noBOM, "\n") || strings.HasSuffix(noBOM, "\x00")
	case Lines:
		rest := noBOM
		for rest != "" {
			line, after, found := strings.Cut(rest, "\n")
			if found {
				line = strings.TrimSuffix(line, "\r")
			}
			want, rest = append(want, line), after
		}
		return want, io.EOF, true
	case Raw:
		return []string{in}, io.EOF, true
	case GRPC:
		return referenceMessages(in)
	case Whole:
		if noBOM != "" {
			want = []string{noBOM}
		}
		return want, io.EOF, true
	}
	return nil, nil, false
}

// referenceEvents reads events whose lines all end and are fields.
func referenceEvents(in string) (want []string, err error, known bool) {
	in = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(in)
	if in != "" && !strings.HasSuffix(in, "\n\n") {
		return nil, nil, false
	}
	var data []string
	name := ""
	for line := range strings.SplitSeq(in, "\n") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			s := strings.Join(data, "\n")
			if name != "" {
				s = name + "|" + s
			}
			if len(data) > 0 && s != "" {
				want = append(want, s)
			}
			data, name = nil, ""
		case line[0] == '{' || line[0] == '[':
			return nil, nil, false
		case field == "data":
			data = append(data, value)
		case field == "error":
			data, name = append(data, value), "error"
		case field == "event":
			name = value
		}
	}
	return want, io.EOF, true
}

// referenceMessages reads messages of gRPC that are all whole.
func referenceMessages(in string) (want []string, err error, known bool) {
	for in != "" {
		if len(in) < 5 || in[0] != 0 {
			return nil, nil, false
		}
		size := int(binary.BigEndian.Uint32([]byte(in[1:5])))
		if len(in) < 5+size {
			return nil, nil, false
		}
		want, in = append(want, in[5:5+size]), in[5+size:]
	}
	return want, io.EOF, true
}

// FuzzValues cuts valid values that stand back to back.
func FuzzValues(f *testing.F) {
	f.Add(`{"a":"}\"]\\"}`, `[[1],"]"]`, ",\n")
	f.Add(`"a\\"`, `-1.5e3`, "\x00")
	f.Fuzz(func(t *testing.T, a, b, sep string) {
		a, b = strings.TrimSpace(a), strings.TrimSpace(b)
		if !json.Valid([]byte(a)) || !json.Valid([]byte(b)) || strings.Trim(sep, " \t\r\n\x00\x1e,") != "" {
			return
		}
		f := func(in string, want ...string) {
			t.Helper()
			for name, r := range chunkings([]byte(in)) {
				got, err := readAll(NewReader(JSON, r, 0))
				if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) || err != io.EOF {
					t.Fatalf("%q, %s: got %q, %v", in, name, got, err)
				}
			}
		}
		f("["+a+","+sep+b+"]"+sep, a, b)
		f("["+sep+a+" "+sep+b+"] ["+a+"]\n", a, b, a)
		if a[0] == '{' || a[0] == '"' {
			f(sep+a+sep+a, a, a)
		}
	})
}
