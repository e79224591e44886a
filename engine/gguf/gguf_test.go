package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// file writes a GGUF file piece by piece.
type file struct{ bytes.Buffer }

func (f *file) put(values ...any) *file {
	for _, v := range values {
		if s, ok := v.(string); ok {
			f.put(uint64(len(s)))
			f.WriteString(s)
			continue
		}
		if err := binary.Write(f, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return f
}

// head begins a file of version 3.
func head(tensors, values uint64) *file {
	f := new(file)
	f.WriteString("GGUF")
	return f.put(uint32(3), tensors, values)
}

// whole is a small file with every type of value and one tensor of 64 bytes.
func whole() *file {
	f := head(1, 6)
	f.put("general.architecture", uint32(8), "llama")
	f.put("general.alignment", uint32(4), uint32(64))
	f.put("a.float", uint32(12), float64(1))
	f.put("a.bool", uint32(7), uint8(1))
	f.put("an.array", uint32(9), uint32(4), uint64(3), uint32(1), uint32(2), uint32(3))
	f.put("texts", uint32(9), uint32(8), uint64(2), "x", "yz")
	f.put("weight", uint32(2), uint64(4), uint64(4), uint32(0), uint64(0))
	for f.Len()%64 != 0 {
		f.WriteByte(0)
	}
	f.Write(make([]byte, 64))
	return f
}

func read(data []byte) (*Info, error) { return Read(bytes.NewReader(data), int64(len(data))) }

func TestWhole(t *testing.T) {
	data := whole().Bytes()
	if info, err := read(data); err != nil || info.Architecture != "llama" || info.Size != int64(len(data)) {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestCutAnywhere(t *testing.T) {
	data := whole().Bytes()
	for n := 4; n < len(data); n++ {
		if _, err := read(data[:n]); !errors.Is(err, ErrTruncated) {
			t.Errorf("cut after %d of %d bytes: got %v", n, len(data), err)
		}
	}
}

func TestWhatIsWrong(t *testing.T) {
	f := func(want string, data []byte) {
		t.Helper()
		if _, err := read(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	f("is empty", nil)
	f("Git LFS pointer", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"))
	f("web page", []byte("\n<!DOCTYPE html><html>"))
	f("ZIP archive", []byte("PK\x03\x04aaaaaaaaaaaaaaaaaaaaaaa"))
	f("safetensors", []byte("\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":1}"))
	f("before 2023-08", []byte("tjgg\x03\x00\x00\x00aaaaaaaaaaaaaaaaaaaa"))
	f(`begins with "abcd"`, []byte("abcdefgh"))
	f(`begins with "a"`, []byte("a"))
	f("version 1 is not supported", append([]byte("GGUF\x01\x00\x00\x00"), make([]byte, 16)...))
	f("version 9 is not supported", append([]byte("GGUF\x09\x00\x00\x00"), make([]byte, 16)...))
	f("big-endian", append([]byte("GGUF\x00\x00\x00\x03"), make([]byte, 16)...))
	f("does not name an architecture", head(0, 0).Bytes())
	f("no weights", head(0, 1).put("general.architecture", uint32(8), "llama").Bytes())
	f("unknown type 99", head(1, 1).put("k", uint32(99)).Bytes())
	f("name of 70000 bytes", head(1, 1).put(strings.Repeat("k", 70000)).Bytes())
	f(`tensor "w" has 9 dimensions`, head(1, 1).put("general.architecture", uint32(8), "llama", "w", uint32(9)).Bytes())
	f("compressed with gzip", []byte("\x1f\x8b\x08\x00"))
	f("is JSON", []byte(`{"error":"Repository not found"}`))
	f("begins with zeros", make([]byte, 100))
	f(`begins with "\n "`, []byte("\n "))
	f("claims 1099511627776 tensors", head(1<<40, 1).Bytes())
	f("claims 1 tensors and 1099511627776 values", head(1, 1<<40).Bytes())
	f("alignment is 3", head(1, 1).put("general.alignment", uint32(4), uint32(3)).Bytes())
	f("alignment is 0", head(1, 1).put("general.alignment", uint32(4), uint32(0)).Bytes())
	f("cut short", head(1, 1).put("k", uint32(9), uint32(8), uint64(1)<<62).Bytes())
	f("cut short", head(1, 1).put("k", uint32(9), uint32(10), uint64(1)<<62).Bytes())
	f("cut short", head(1, 1).put("k", uint32(8), uint64(1)<<63).Bytes())
	f("cut short", head(1, 1).put("general.architecture", uint32(8), "llama", "w", uint32(0), uint32(0), uint64(1)<<63).Bytes())
}

// TestWhatIsWrongWithATensor has one tensor each: dimensions, type, offset.
func TestWhatIsWrongWithATensor(t *testing.T) {
	f := func(want string, kind uint32, offset uint64, dims ...uint64) {
		t.Helper()
		data := head(1, 1).put("general.architecture", uint32(8), "llama", "w", uint32(len(dims)), dims, kind, offset)
		data.Write(make([]byte, 64))
		_, err := read(data.Bytes())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	f("", 0, 0, 8)
	f("", 2, 0, 32)
	f("", 0, 0)
	f(`tensor "w" is of type 99, which this engine does not know`, 99, 0, 4)
	f(`tensor "w" is of type 4, `, 4, 0, 4)
	f(`tensor "w" has rows of 33 numbers, and its type q4_0 blocks of 32`, 2, 0, 33)
	f(`tensor "w" begins at 5, which is no multiple of 32`, 0, 5, 4)
	f(`cut short: it was probably not copied or downloaded whole: tensor "w" ends at byte 8000128, and the file at 166`, 0, 0, 2000000)
	f(`tensor "w" begins at byte 9223372036854775808`, 0, 1<<63, 4)
	f("cut short", 0, 1<<62, 4)
	f(`tensor "w" has [4294967296 4294967296 4294967296 1] numbers`, 0, 0, 1<<32, 1<<32, 1<<32)
	f(`tensor "w" has [9223372036854775808 1 1 1] numbers`, 0, 0, 1<<63)
}

// TestBC094 is: the built-in model cut at each KB, and with stray bytes behind it.
func TestBC094(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "stories", "stories.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1 << 10; n < len(data); n += 1 << 10 {
		if _, err := read(data[:n]); !errors.Is(err, ErrTruncated) {
			t.Errorf("cut after %d of %d bytes: got %v", n, len(data), err)
		}
	}
	if _, err := read(append(data, make([]byte, 16)...)); err != nil {
		t.Errorf("16 stray bytes: %v", err)
	}
}

func TestCheckNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	f := func(path, want string) {
		t.Helper()
		if _, err := Check(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %s: %s", err, path, want)
		}
	}
	bad := filepath.Join(dir, "bad.gguf")
	if err := os.WriteFile(bad, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	f(dir, "is a directory")
	f(filepath.Join(dir, "none.gguf"), "no such model file")
	f(bad, "not a GGUF file")
}

func TestTheBuiltInModel(t *testing.T) {
	info, err := Check(filepath.Join("..", "stories", "stories.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Architecture != "llama" || info.Context != 1024 || info.Layers != 6 || info.Parameters < 2e6 || len(info.Files) != 1 {
		t.Errorf("got %+v", info)
	}
}

func FuzzRead(f *testing.F) {
	data := whole().Bytes()
	f.Add(data)
	f.Add(data[:100])
	f.Add(head(1, 1).put("k", uint32(9), uint32(9), uint64(1)<<40).Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		info, err := read(data)
		if err == nil && len(data) < 24 {
			t.Fatalf("accepted %+v", info)
		}
		if err == nil {
			info.Memory(Use{Context: 4096, Parallel: 8, Batch: 512, K: 1, V: 8})
		}
	})
}
