package llama

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	"github.com/hybridgroup/yzma/pkg/llama"
	"github.com/hybridgroup/yzma/pkg/loader"
	"github.com/jupiterrider/ffi"
)

// Version is the llama.cpp release that the binding was made for.
const Version = "0.4.0"

// A VersionError says that a library is of another release than the binding.
type VersionError struct{ Dir, Found string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the llama.cpp libraries in %s are version %s, and this engine is made for %s", e.Dir, e.Found, Version)
}

// libraries is the folder that Load loaded.
var libraries string

var libraryNames = []string{
	filepath.Base(loader.GetLibraryFilename("", "ggml")),
	filepath.Base(loader.GetLibraryFilename("", "ggml-base")),
	filepath.Base(loader.GetLibraryFilename("", "llama")),
}

// functions that the binding lacks or that it calls in a way unfit for text
// from strangers.
var tokenizeFunc, versionFunc ffi.Fun

// Load loads llama.cpp's libraries from dir, once in a process. It returns the
// version found. With a *VersionError everything is loaded nevertheless, for
// those who want to try.
func Load(dir string) (version string, err error) {
	if err := missing(dir); err != nil {
		return "", err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the llama.cpp libraries: %w", err)
	}
	if err := llama.Load(dir); err != nil {
		return "", fmt.Errorf("loading the llama.cpp libraries in %s (this engine is made for version %s): %w", dir, Version, err)
	}
	version, err = prepare(dir)
	if err != nil {
		return "", fmt.Errorf("loading the llama.cpp libraries in %s (this engine is made for version %s): %w", dir, Version, err)
	}
	libraries = dir
	llama.LogSet(logCallback())
	llama.Init()
	preparePools(dir)
	if llama.GGMLBackendDeviceCount() == 0 {
		return version, fmt.Errorf("llama.cpp in %s found nothing to compute on: the libraries named ggml-cpu are missing, or none fits this processor", dir)
	}
	if version != Version && !strings.HasPrefix(version, Version+"-") {
		return version, &VersionError{Dir: dir, Found: version}
	}
	return version, nil
}

// prepare binds the functions that the binding leaves to us, and asks for the version.
func prepare(dir string) (string, error) {
	lib, err := loader.LoadLibrary(dir, "llama")
	if err != nil {
		return "", err
	}
	tokenizeFunc, err = lib.Prep("llama_tokenize", &ffi.TypeSint32, &ffi.TypePointer, &ffi.TypePointer,
		&ffi.TypeSint32, &ffi.TypePointer, &ffi.TypeSint32, &ffi.TypeUint8, &ffi.TypeUint8)
	if err != nil {
		return "", err
	}
	if versionFunc, err = lib.Prep("llama_version", &ffi.TypePointer); err != nil {
		return "", errors.New("they do not tell their version, so they are older")
	}
	var p *byte
	versionFunc.Call(unsafe.Pointer(&p))
	return goString(p), nil
}

// goString copies a C string.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
