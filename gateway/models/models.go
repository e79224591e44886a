// Package models knows the folder of downloaded models: how people name one,
// where its file lies, which are there. Package pull fetches them.
//
//	ref, err := models.Parse("hf:owner/name:Q4_K_M")
//	path, err := models.Find(models.Dir(), ref)
package models

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// Dir returns the folder of downloaded models: $DRAGOMAN_MODELS, or else
// dragoman/models where the system keeps programs' data. It may not exist yet.
func Dir() string {
	if dir := os.Getenv("DRAGOMAN_MODELS"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "dragoman", "models")
	}
	if dir := os.Getenv("LocalAppData"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "dragoman", "models")
	}
	home, err := os.UserHomeDir()
	if err != nil { // a service, say
		return filepath.Join(os.TempDir(), "dragoman", "models")
	}
	return filepath.Join(home, ".local", "share", "dragoman", "models")
}

// Model is one that lies in the folder.
type Model struct {
	Name  string   // as Parse takes it
	Files []string // paths of its file, or of its parts in order
	Size  int64    // of all of them, in bytes
}

// List returns the models in dir, sorted by name. A folder that is not there
// holds none.
func List(dir string) ([]Model, error) {
	list := []Model{}
	for _, o := range group(files(dir)) {
		m := Model{Name: nameOf(dir, o.Files)}
		for _, file := range o.Files {
			full := filepath.Join(dir, filepath.FromSlash(file))
			st, err := os.Stat(full)
			if err != nil {
				return nil, fmt.Errorf("looking for models: %w", err)
			}
			m.Files = append(m.Files, full)
			m.Size += st.Size()
		}
		list = append(list, m)
	}
	return list, nil
}

// files returns the GGUF files below dir, as slash-separated paths from there.
// What cannot be read is passed over.
func files(dir string) (list []string) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(strings.ToLower(name), ".gguf") {
			list = append(list, name)
		}
		return nil
	})
	return list
}

// nameOf returns what people call the model of these files below dir.
func nameOf(dir string, files []string) string {
	for name, known := range Known {
		if known.Owner+"/"+known.Name+"/"+known.File == files[0] {
			return name
		}
	}
	if parts := strings.SplitN(files[0], "/", 3); len(parts) == 3 {
		return "hf:" + files[0]
	}
	return filepath.Join(dir, filepath.FromSlash(files[0]))
}

// Find returns the path of the file that r means, the first of several parts.
// What is not there is an error that says how to get it.
func Find(dir string, r Ref) (string, error) {
	switch {
	case r.Path != "":
		return r.Path, nil
	case r.URL != "":
		file := filepath.Join(dir, filepath.FromSlash(r.Place()))
		if _, err := os.Stat(file); err != nil {
			return "", r.absent()
		}
		return file, nil
	}
	at := filepath.Join(dir, r.Owner, r.Name)
	there := files(at)
	if len(there) == 0 {
		return "", r.absent()
	}
	found, err := Choose(there, r)
	if err != nil {
		return "", fmt.Errorf("%w; dragoman pull %s downloads it", err, r.Text)
	}
	return filepath.Join(at, filepath.FromSlash(found.Files[0])), nil
}

func (r Ref) absent() error {
	return fmt.Errorf("%s is not downloaded: dragoman pull %s", r.Text, r.Text)
}

// Remove deletes the files of a model that List returned, and the folders below
// dir that are empty without them.
func Remove(dir string, m Model) error {
	for _, file := range m.Files {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing %s: %w", m.Name, err)
		}
		_ = os.Remove(file + ".lock")
		for up := filepath.Dir(file); up != dir && strings.HasPrefix(up, dir); up = filepath.Dir(up) {
			if os.Remove(up) != nil {
				break // it holds something else
			}
		}
	}
	return nil
}

// Place returns where the file of a URL lies, slash-separated below the folder.
func (r Ref) Place() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(u.Host, ":", "_") + "/" + path.Base(u.Path)
}
