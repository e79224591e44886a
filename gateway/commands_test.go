package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("GGUF?")) }))
	defer web.Close()
	dir := t.TempDir()
	t.Setenv("DRAGOMAN_MODELS", dir)
	f := func(status int, says string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		if got := run(args, &out, &out); got != status || !strings.Contains(out.String(), says) {
			t.Errorf("%q: status %d, said %s", args, got, out.String())
		}
	}
	f(2, "dragoman pull MODEL...: download models", "pull")
	f(0, "dragoman pull MODEL...: download models", "pull", "-help")
	f(2, "dragoman models: list", "models", "x")
	f(0, "There are no models in "+dir, "models")
	f(1, `dragoman pull: "hf:x" names no repository`, "pull", "hf:x")
	host := strings.ReplaceAll(strings.TrimPrefix(web.URL, "http://"), ":", "_")
	path := filepath.Join(dir, host, "m.gguf")
	f(0, path+"\n", "pull", web.URL+"/m.gguf")
	f(0, "m: {engine: {model: \""+web.URL+"/m.gguf\"}}", "pull", web.URL+"/m.gguf")
	f(0, path+"  0 MiB", "models")
	f(1, "there is no model y; dragoman models lists them", "rm", "y")
	f(0, "removed "+path, "rm", path)
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}
