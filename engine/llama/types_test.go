//go:build llama

package llama

import (
	"cmp"
	"os"
	"testing"

	"dragoman/engine/gguf"

	"github.com/hybridgroup/yzma/pkg/llama"
)

// TestTypes compares what package gguf knows of GGML's types with the library.
func TestTypes(t *testing.T) {
	if _, err := Load(cmp.Or(os.Getenv("DRAGOMAN_LLAMA_LIB"), "../../bin/lib")); err != nil {
		t.Fatal(err)
	}
	known := 0
	for n := range llama.GGMLTypeCOUNT {
		block, name := llama.GGMLBlockSize(n), gguf.Type(n).String()
		switch {
		case block == 0 && name == "": // withdrawn
		case name != llama.GGMLTypeName(n):
			t.Errorf("type %d is %q here and %q there", n, name, llama.GGMLTypeName(n))
		default:
			known++
			if got, want := gguf.Type(n).Bytes(uint64(3*block)), llama.GGMLRowSize(n, 3*block); got != want || gguf.Type(n).Quantized() != (block > 1) {
				t.Errorf("three blocks of %s: got %d, want %d", name, got, want)
			}
		}
	}
	if known < 30 {
		t.Errorf("only %d types are known", known)
	}
}
