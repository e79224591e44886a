package stories

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestPathGivesAWholeModel(t *testing.T) {
	path, err := Path(filepath.Join(t.TempDir(), "a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, model) || !bytes.HasPrefix(got, []byte("GGUF")) {
		t.Fatalf("%s holds %d bytes that are not the embedded GGUF", path, len(got))
	}
	if len(got) > 5<<20 {
		t.Errorf("the model is %d bytes, more than a repository should carry", len(got))
	}
}

func TestPlace(t *testing.T) {
	want := []byte("GGUF and so on")
	f := func(name string, before func(path string) error) {
		t.Helper()
		dir := t.TempDir()
		path, err := place(dir, want)
		if err != nil {
			t.Fatalf("%s: first call: %v", name, err)
		}
		if err := before(path); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := place(dir, want)
		if err != nil || again != path {
			t.Fatalf("%s: second call gave %q, %v; want %q", name, again, err, path)
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: file holds %q, %v", name, got, err)
		}
		if left := names(t, dir); len(left) != 1 {
			t.Errorf("%s: cache holds %v", name, left)
		}
	}
	f("untouched", func(string) error { return nil })
	f("deleted", os.Remove)
	f("cut short", func(p string) error { return os.Truncate(p, 3) })
	f("same size, other bytes", func(p string) error {
		return os.WriteFile(p, bytes.ToLower(want), 0o644)
	})
	f("a link to elsewhere", func(p string) error {
		if err := os.Remove(p); err != nil {
			return err
		}
		return os.Symlink(filepath.Join(t.TempDir(), "nothing"), p)
	})
}

func TestPlaceReusesAWholeFile(t *testing.T) {
	dir := t.TempDir()
	path, err := place(dir, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := place(dir, []byte("one")); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) {
		t.Error("a whole file was written again")
	}
}

func TestPlaceKeepsVersionsApart(t *testing.T) {
	dir := t.TempDir()
	one, err := place(dir, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	two, err := place(dir, []byte("two"))
	if err != nil {
		t.Fatal(err)
	}
	if one == two || len(names(t, dir)) != 2 {
		t.Errorf("two models share %s and %s", one, two)
	}
}

func TestPlaceFromManyAtOnce(t *testing.T) {
	dir, data := t.TempDir(), bytes.Repeat([]byte("x"), 1<<20)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			path, err := place(dir, data)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("cache holds %v", left)
	}
}

func TestPlaceNamesTheCacheInErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := place(file, []byte("one"))
	if err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a cache that is a file: %v", err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
