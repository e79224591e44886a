package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"
)

func seeds(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":"c\u00e9\ud83d\ude00"}],"d":-1.5e-7}`, `[]`, `{}`, `""`, `nul`, `{"a":1,"a":2}`, `[1,]`, `{"a":}`,
		"\"\x01\"", "\"\xff\"", `"\ud800"`, `"0123456\"89"`, `1e5`, `-`, `[[[[`, ` { "x" : true , "y" : [ null ] } `, `{"`, `{"a"`, `[1 2]`,
	} {
		f.Add([]byte(s))
	}
}

// FuzzValid compares with encoding/json, which knows no such bound on depth.
func FuzzValid(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		err := Valid(data, 128)
		if errors.Is(err, ErrDepth) {
			return
		}
		if want := json.Valid(data); (err == nil) != want {
			t.Fatalf("Valid = %v, encoding/json says %v", err, want)
		}
	})
}

// FuzzMembers compares what is found in an object with encoding/json.
func FuzzMembers(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(data, &want)
		members, err := Members(data, 128)
		var dup *DuplicateError
		if errors.As(err, &dup) || errors.Is(err, ErrDepth) || errors.Is(err, ErrMembers) {
			return
		}
		if (err == nil) != (wantErr == nil && want != nil) {
			t.Fatalf("Members = %v, encoding/json says %v", err, wantErr)
		}
		if err != nil {
			return
		}
		i := 0
		err = Each(data, func(name, value []byte) error {
			m := members[i]
			if m.Name != string(name) || !bytes.Equal(data[m.Start:m.End], value) {
				t.Fatalf("Each gives %q: %s, Members %q: %s", name, value, m.Name, data[m.Start:m.End])
			}
			i++
			return nil
		})
		if err != nil || i != len(members) {
			t.Fatalf("Each found %d members and %v, Members %d", i, err, len(members))
		}
		if bytes.ContainsRune(data, 0xfffd) || !json.Valid(bytes.ToValidUTF8(data, nil)) || len(want) != len(members) {
			return // encoding/json replaces bad UTF-8 in names, which may then collide
		}
		for _, m := range members {
			if raw, ok := want[m.Name]; ok && !bytes.Equal(raw, data[m.Start:m.End]) {
				t.Fatalf("%q is %s, want %s", m.Name, data[m.Start:m.End], raw)
			}
		}
	})
}

// FuzzSkip feeds what skips through valid data with anything at all: it may
// find nonsense, but must end and stay in bounds.
func FuzzSkip(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = Each(data, func(_, _ []byte) error { return nil })
		for range All(data) {
		}
		n := 0
		for range Elements(data) {
			if n++; n > len(data) {
				t.Fatal("more elements than bytes")
			}
		}
		Unquote(data)
	})
}

// FuzzUnquote compares with encoding/json, which also replaces bad UTF-8.
func FuzzUnquote(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var want string
		if len(data) == 0 || data[0] != '"' || Valid(data, 1) != nil || !utf8.Valid(data) || data[len(data)-1] != '"' {
			return
		}
		if err := json.Unmarshal(data, &want); err != nil {
			t.Fatal(err)
		}
		if got, ok := Unquote(data); !ok || got != want {
			t.Fatalf("Unquote(%s) = %q, %v, want %q", data, got, ok, want)
		}
	})
}
