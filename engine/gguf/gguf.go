// Package gguf looks at the header of a GGUF file and says in plain words what
// is wrong with it. llama.cpp, which reads the file afterwards, mostly says
// that it failed. It also estimates how much memory a model will take.
// The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// It reads no weights, and does not judge whether llama.cpp knows the model.
package gguf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// Info is what the header of a model tells. What it does not tell is zero.
type Info struct {
	Architecture string   // general.architecture, such as "llama"
	Name         string   // general.name
	Quantization string   // how the weights are packed, such as "Q4_K_M"
	Context      int      // tokens that the model was trained to hold
	Layers       int      // blocks
	Parameters   uint64   // numbers in all weights
	Weights      uint64   // bytes of all weights
	Size         int64    // of the file, or of all its parts, in bytes
	Files        []string // the file, or its parts in order; set by Check

	meta    metadata
	layers  []layer
	vocab   uint64 // rows of the embedding
	experts bool   // some weights are chosen among by a router
	tensors int
}

// Check reads the header of the file at path, and of all parts of a model that
// is in several files, of which path may be any. The error is fit for users.
func Check(path string) (*Info, error) {
	path = firstPart(path)
	info, err := checkFile(path)
	if err != nil {
		return nil, err
	}
	info.Files = []string{path}
	return info, info.checkParts(path)
}

// checkFile reads the header of one file.
func checkFile(path string) (*Info, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no such model file: %s", path)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the model file: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("opening the model file: %w", err)
	}
	if st.IsDir() {
		return nil, fmt.Errorf("%s is a directory, not a GGUF file", path)
	}
	info, err := Read(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return info, nil
}

// ErrTruncated says that a file ends before all that its header announces.
var ErrTruncated = errors.New("the file is cut short: it was probably not copied or downloaded whole")

// Read checks the header of one file of that many bytes.
func Read(r io.Reader, size int64) (*Info, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	start, _ := br.Peek(64)
	if err := checkStart(start); err != nil {
		return nil, err
	}
	d := &decoder{r: br, size: size, meta: metadata{}, align: alignment}
	err := d.header()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err == ErrTruncated:
		return nil, fmt.Errorf("%w: its header goes on at byte %d, where it ends", ErrTruncated, size)
	case err != nil:
		return nil, err
	}
	return d.info(), nil
}
