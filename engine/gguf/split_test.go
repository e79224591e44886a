package gguf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// part is a part of a model, number no of count from 0, with one tensor of
// eight numbers in the block of its number.
func part(no, count uint16) *file {
	pairs := []any{"split.no", uint32(2), no, "split.count", uint32(2), count, "split.tensors.count", uint32(5), int32(count)}
	if no == 0 {
		pairs = append(pairs, "general.architecture", uint32(8), "llama")
	}
	f := head(1, uint64(len(pairs)/3)).put(pairs...)
	f.put(fmt.Sprintf("blk.%d.attn_k.weight", no), uint32(2), uint64(4), uint64(2), uint32(0), uint64(0))
	for f.Len()%32 != 0 {
		f.WriteByte(0)
	}
	f.Write(make([]byte, 32))
	return f
}

// parts writes files and returns the path of one of them.
func parts(t *testing.T, files map[string]*file, which string) string {
	t.Helper()
	dir := t.TempDir()
	for name, f := range files {
		if err := os.WriteFile(filepath.Join(dir, name), f.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, which)
}

func TestBC095Parts(t *testing.T) {
	all := func() map[string]*file {
		return map[string]*file{"m-00001-of-00003.gguf": part(0, 3), "m-00002-of-00003.gguf": part(1, 3), "m-00003-of-00003.gguf": part(2, 3), "m.gguf": whole()}
	}
	for i := range 3 { // any part stands for the model
		info, err := Check(parts(t, all(), fmt.Sprintf("m-%05d-of-00003.gguf", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Files) != 3 || !strings.HasSuffix(info.Files[0], "-00001-of-00003.gguf") || !strings.HasSuffix(info.Files[2], "-00003-of-00003.gguf") {
			t.Errorf("files: %q", info.Files)
		}
		if info.Weights != 96 || info.Parameters != 24 || len(info.layers) != 3 || info.Architecture != "llama" {
			t.Errorf("got %+v", info)
		}
	}
	f := func(want, which string, change func(map[string]*file)) {
		t.Helper()
		files := all()
		change(files)
		if _, err := Check(parts(t, files, which)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	first := "m-00001-of-00003.gguf"
	f("part 2 of the model's 3 parts is missing: ", first, func(m map[string]*file) { delete(m, "m-00002-of-00003.gguf") })
	f("part 1 of the model's 3 parts is missing: ", "m-00002-of-00003.gguf", func(m map[string]*file) { delete(m, first) })
	f("no such model file", "m-00002-of-00003.gguf", func(m map[string]*file) { clear(m) })
	f("m-00002-of-00003.gguf: the file is cut short", first, func(m map[string]*file) { m["m-00002-of-00003.gguf"].Truncate(100) })
	f("says that it is part 3 of 3", first, func(m map[string]*file) { m["m-00002-of-00003.gguf"] = part(2, 3) })
	f("says that it is part 2 of 4", first, func(m map[string]*file) { m["m-00002-of-00003.gguf"] = part(1, 4) })
	f("named as one of 3 parts, and says that there are 4", first, func(m map[string]*file) { m[first] = part(0, 4) })
	f("such files must be named NAME-00001-of-00003.gguf", "m.gguf", func(m map[string]*file) { m["m.gguf"] = part(0, 3) })
	f("hold 3 tensors, and there should be 5", first, func(m map[string]*file) {
		p := part(0, 3).Bytes()
		at := strings.Index(string(p), "split.tensors.count") + len("split.tensors.count") + 4
		p[at] = 5
		m[first] = new(file)
		m[first].Write(p)
	})
}
