package gguf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// starts are the first bytes of what people pass for GGUF files by mistake.
var starts = []struct{ bytes, what string }{
	{"version https://git-lfs", "the file is a Git LFS pointer, not the model: fetch it with git lfs pull"},
	{"ggjt", "the file is in the GGML format of before 2023-08, which llama.cpp no longer reads: convert it to GGUF"},
	{"tjgg", "the file is in the GGML format of before 2023-08, which llama.cpp no longer reads: convert it to GGUF"},
	{"lmgg", "the file is in the GGML format of before 2023-08, which llama.cpp no longer reads: convert it to GGUF"},
	{"fmgg", "the file is in the GGML format of before 2023-08, which llama.cpp no longer reads: convert it to GGUF"},
	{"PK\x03\x04", "the file is a ZIP archive (PyTorch saves models so, and wheels are such), not a GGUF file"},
	{"\x1f\x8b", "the file is compressed with gzip: unpack it"},
	{"\x28\xb5\x2f\xfd", "the file is compressed with zstd: unpack it"},
	{"\x80\x02", "the file is a Python pickle, not a GGUF file"},
	{"\x89HDF", "the file is HDF5 (Keras saves models so), not a GGUF file"},
}

// checkStart recognises what the file is if it is no GGUF file.
func checkStart(b []byte) error {
	for _, s := range starts {
		if bytes.HasPrefix(b, []byte(s.bytes)) {
			return errors.New(s.what)
		}
	}
	text := bytes.ToLower(bytes.TrimSpace(b))
	switch {
	case len(b) == 0:
		return errors.New("the file is empty")
	case bytes.HasPrefix(text, []byte("<!doctype")), bytes.HasPrefix(text, []byte("<html")), bytes.HasPrefix(text, []byte("<?xml")):
		return errors.New("the file is a web page, not a GGUF file: the download went wrong")
	case bytes.HasPrefix(text, []byte("{")):
		return errors.New("the file is JSON, not a GGUF file: a download may have saved an error message")
	case len(b) > 9 && b[8] == '{':
		return errors.New("the file looks like safetensors, not GGUF: convert it, or take a GGUF version of the model")
	case len(bytes.Trim(b, "\x00")) == 0:
		return errors.New("the file begins with zeros: it was probably not copied or downloaded whole")
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
