//go:build llama

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/engine/stories"
)

// cursor reads a GGUF header.
type cursor struct {
	data []byte
	at   int
}

func (c *cursor) u32() (n uint32) { n = binary.LittleEndian.Uint32(c.data[c.at:]); c.at += 4; return n }

func (c *cursor) u64() (n uint64) { n = binary.LittleEndian.Uint64(c.data[c.at:]); c.at += 8; return n }

func (c *cursor) text() string {
	n := int(c.u64())
	c.at += n
	return string(c.data[c.at-n : c.at])
}

// value passes over a value of metadata.
func (c *cursor) value(kind uint32) {
	switch kind {
	case 8:
		c.text()
	case 9:
		of, n := c.u32(), c.u64()
		for range n {
			c.value(of)
		}
	default:
		c.at += []int{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}[kind]
	}
}

// tensor is one with its data.
type tensor struct {
	name string
	form []byte // dimensions and type
	data []byte
}

// put appends values in the format's way.
func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			v = append(binary.LittleEndian.AppendUint64(nil, uint64(len(s))), s...)
		}
		if err := binary.Write(b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}

// split cuts the built-in model into parts with these numbers of tensors each; 0
// is the rest. The metadata is the first's. It returns the parts' paths.
func split(t *testing.T, sizes ...int) (paths []string) {
	t.Helper()
	file, err := stories.Path(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := &cursor{data, 8}
	tensors, values := int(c.u64()), int(c.u64())
	begin := c.at
	for range values {
		c.text()
		c.value(c.u32())
	}
	metadata := data[begin:c.at]
	all := make([]tensor, tensors)
	offsets := make([]int, tensors+1)
	for i := range all {
		all[i].name = c.text()
		from := c.at
		c.at += int(c.u32())*8 + 4
		all[i].form, offsets[i] = data[from:c.at], int(c.u64())
	}
	weights := data[(c.at+31)/32*32:]
	offsets[tensors] = len(weights)
	for i := range all {
		all[i].data = weights[offsets[i]:offsets[i+1]]
	}
	dir := t.TempDir()
	for no, n := range sizes {
		if n == 0 {
			n = len(all)
		}
		path := filepath.Join(dir, fmt.Sprintf("m-%05d-of-%05d.gguf", no+1, len(sizes)))
		own := metadata
		if no > 0 {
			values, own = 0, nil
		}
		if err := os.WriteFile(path, part(all[:n], no, len(sizes), tensors, values, own), 0o600); err != nil {
			t.Fatal(err)
		}
		all, paths = all[n:], append(paths, path)
	}
	return paths
}

// part is one file of a split model.
func part(list []tensor, no, count, total, values int, metadata []byte) []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put(&b, uint32(3), uint64(len(list)), uint64(values+3), metadata)
	put(&b, "split.no", uint32(2), uint16(no), "split.count", uint32(2), uint16(count), "split.tensors.count", uint32(5), int32(total))
	offset := 0
	for _, t := range list {
		put(&b, t.name, t.form, uint64(offset))
		offset += len(t.data)
	}
	b.Write(make([]byte, -b.Len()&31))
	for _, t := range list {
		b.Write(t.data)
	}
	return b.Bytes()
}

// BC-095: any part stands for the model; one that is missing is named.
func TestBC095(t *testing.T) {
	parts := split(t, 5, 20, 0)
	whole, err := stories.Path(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := start(t, "-model", whole).generate(t, "Story about a dog.", greedy).text
	for _, path := range parts[:2] {
		if got := start(t, "-model", path).generate(t, "Story about a dog.", greedy).text; got != want || !strings.Contains(got, "dog") {
			t.Errorf("%s: got %q, want %q", filepath.Base(path), got, want)
		}
	}
	if err := os.Remove(parts[1]); err != nil {
		t.Fatal(err)
	}
	if got := fails(t, "-lib", libDir(), "-model", parts[0]); !strings.Contains(got, "part 2 of the model's 3 parts is missing: "+parts[1]) {
		t.Errorf("got %q", got)
	}
}
