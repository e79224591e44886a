// Package stories holds builtin:stories, a very small chat model that answers
// "Story about a dog." with a short story about a dog. It makes the first run
// possible without a download and serves as a fixture for tests; it is no use
// for anything else. How it was made and how well it does: README.md.
//
// The package only puts the model where llama.cpp can open it, which loads
// files and nothing else. Loading and running are the engine's work.
package stories

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed stories.gguf
var model []byte

// Path gives the name of a file in cacheDir that holds the model, and writes
// it first unless a whole copy is there already. cacheDir is created when it
// is missing. The name carries the model's SHA-256, so that two versions of
// the program can share one cache; a file of that name with other contents is
// replaced. Any number of goroutines and processes may call it at once.
func Path(cacheDir string) (string, error) {
	return place(cacheDir, model)
}

// place is Path for any contents.
func place(dir string, data []byte) (string, error) {
	sum := sha256.Sum256(data)
	path := filepath.Join(dir, "stories-"+hex.EncodeToString(sum[:])+".gguf")
	if holds(path, int64(len(data)), sum) {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("creating the model cache: %w", err)
	}
	if err := write(path, data); err != nil {
		// On Windows a file that another process has open cannot be replaced;
		// when that process has just written the same bytes, all is well.
		if holds(path, int64(len(data)), sum) {
			return path, nil
		}
		return "", fmt.Errorf("writing builtin:stories to %s: %w", path, err)
	}
	return path, nil
}

// holds reports whether path is a regular file of that size and hash.
func holds(path string, size int64, sum [sha256.Size]byte) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != size {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return false
	}
	return bytes.Equal(h.Sum(nil), sum[:])
}

// write puts data at path in one step: a reader sees nothing or all of it.
func write(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".stories-*")
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		if rm := os.Remove(f.Name()); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = errors.Join(err, rm)
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Chmod(f.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
