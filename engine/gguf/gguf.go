// Package gguf looks at the header of a GGUF file and says in plain words what
// is wrong with it. llama.cpp, which reads the file afterwards, mostly says
// that it failed. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// It reads no weights, and does not judge whether llama.cpp knows the model.
package gguf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Info is what the header tells.
type Info struct {
	Architecture string // general.architecture, such as "llama"
	Size         int64  // of the file, in bytes
}

// Check reads the header of the file at path. The error is fit for users.
func Check(path string) (Info, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return Info{}, fmt.Errorf("no such model file: %s", path)
	}
	if err != nil {
		return Info{}, fmt.Errorf("opening the model file: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return Info{}, fmt.Errorf("opening the model file: %w", err)
	}
	if st.IsDir() {
		return Info{}, fmt.Errorf("%s is a directory, not a GGUF file", path)
	}
	info, err := Read(f, st.Size())
	if err != nil {
		return Info{}, fmt.Errorf("%s: %w", path, err)
	}
	return info, nil
}

// ErrTruncated says that a file ends before all that its header announces.
var ErrTruncated = errors.New("the file is cut short: it was probably not copied or downloaded whole")

// Read checks the header of a file of that many bytes.
func Read(r io.Reader, size int64) (Info, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	start, _ := br.Peek(64)
	if err := checkStart(start); err != nil {
		return Info{}, err
	}
	d := &decoder{r: br, size: size}
	info, err := d.header()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = ErrTruncated
	}
	info.Size = size
	return info, err
}

// checkStart recognises what people pass for GGUF files by mistake.
func checkStart(b []byte) error {
	switch {
	case len(b) == 0:
		return errors.New("the file is empty")
	case bytes.HasPrefix(b, []byte("version https://git-lfs")):
		return errors.New("the file is a Git LFS pointer, not the model: fetch it with git lfs pull")
	case bytes.HasPrefix(b, []byte("ggjt")), bytes.HasPrefix(b, []byte("tjgg")), bytes.HasPrefix(b, []byte("lmgg")), bytes.HasPrefix(b, []byte("fmgg")):
		return errors.New("the file is in the GGML format of before 2023-08, which llama.cpp no longer reads: convert it to GGUF")
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return errors.New("the file is a ZIP archive (PyTorch saves models so), not a GGUF file")
	case bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(b)), []byte("<!doctype")), bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(b)), []byte("<html")):
		return errors.New("the file is a web page, not a GGUF file: the download went wrong")
	case len(b) > 9 && b[8] == '{':
		return errors.New("the file looks like safetensors, not GGUF")
	case !bytes.HasPrefix(b, []byte("GGUF")):
		return fmt.Errorf("not a GGUF file: it begins with %q", b[:min(4, len(b))])
	case len(b) < 24:
		return ErrTruncated
	}
	return checkVersion(binary.LittleEndian.Uint32(b[4:]))
}

func checkVersion(v uint32) error {
	switch {
	case v == 2 || v == 3:
		return nil
	case v != 0 && v&0xffff == 0:
		return errors.New("the file is a GGUF file for big-endian machines")
	}
	return fmt.Errorf("GGUF version %d is not supported (2 and 3 are)", v)
}
