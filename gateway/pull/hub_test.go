package pull

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"dragoman/gateway/models"
)

// hub is a fake of Hugging Face with one repository, a/b, whose files lie on a
// server of their own.
type hub struct {
	*httptest.Server
	content *httptest.Server

	mu     sync.Mutex
	files  map[string][]byte
	sum    string   // what the listing says instead of the right checksum
	cut    int      // bytes after which the connection is cut; 0: never
	plain  bool     // knows no ranges
	token  string   // without it nothing is told
	code   string   // X-Error-Code of a refusal
	status int      // of a refusal
	seen   []string // "PATH range authorization" of each request for a file since the latest listing
	sent   int      // requests for the content of a file
}

func newHub(t *testing.T, files map[string][]byte) *hub {
	h := &hub{files: files}
	h.content = httptest.NewServer(http.HandlerFunc(h.serveContent))
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(func() {
		h.Close()
		h.content.Close()
	})
	return h
}

func (h *hub) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

func (h *hub) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case r.URL.Path == "/api/models":
		fmt.Fprintf(w, `[{"id":"c/%s-GGUF"},{"id":"bad\u001b[2J"}]`, r.URL.Query().Get("search"))
	case h.token != "" && r.Header.Get("Authorization") != "Bearer "+h.token:
		w.Header().Set("X-Error-Code", h.code)
		w.WriteHeader(h.status)
	case r.URL.Path == "/api/models/a/b/tree/main":
		h.list(w, r)
	case strings.HasPrefix(r.URL.Path, "/a/b/resolve/main/"):
		h.seen = append(h.seen, "hub "+r.Header.Get("Authorization"))
		http.Redirect(w, r, h.content.URL+"/"+strings.TrimPrefix(r.URL.Path, "/a/b/resolve/main/"), http.StatusFound)
	default:
		w.Header().Set("X-Error-Code", "RepoNotFound")
		w.WriteHeader(http.StatusNotFound)
	}
}

// list tells one file on each page.
func (h *hub) list(w http.ResponseWriter, r *http.Request) {
	var entries []map[string]any
	for name, data := range h.files {
		sum := sha256.Sum256(data)
		oid := hex.EncodeToString(sum[:])
		if h.sum != "" {
			oid = h.sum
		}
		entries = append(entries, map[string]any{"type": "file", "path": name, "size": 133, "lfs": map[string]any{"oid": oid, "size": len(data)}})
	}
	entries = append(entries, map[string]any{"type": "directory", "path": "x.gguf"})
	page := 0
	fmt.Sscan(r.URL.Query().Get("page"), &page)
	if page == 0 && len(entries) > 1 {
		w.Header().Set("Link", fmt.Sprintf(`<%s/api/models/a/b/tree/main?page=1>; rel="next"`, h.URL))
		h.seen = nil
	}
	var list []map[string]any
	if page == 0 {
		list = entries[:1]
	} else {
		// Maps have no order, so the second page has all.
		list = entries
	}
	_ = json.NewEncoder(w).Encode(list)
}

func (h *hub) serveContent(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	data, cut, plain := h.files[r.URL.Path[1:]], h.cut, h.plain
	h.sent++
	h.seen = append(h.seen, strings.TrimSpace(fmt.Sprintf("content %s %s", r.Header.Get("Range"), r.Header.Get("Authorization"))))
	h.mu.Unlock()
	if plain {
		r.Header.Del("Range")
	}
	if cut > 0 {
		w = &cutter{w, cut}
	}
	w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// cutter ends the connection after so many bytes.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	n, _ := c.ResponseWriter.Write(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, nil
}

// noise is a file that no other is like.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(uint64(n), 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// nobody is the URL of a port on which nobody listens.
const nobody = "http://127.0.0.1:1"

// setting is a folder and the options of a pull into it.
type setting struct {
	Options
	out bytes.Buffer
}

func (h *hub) setting(t *testing.T) *setting {
	t.Helper()
	for _, name := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_ENDPOINT", "PIP_INDEX_URL"} {
		t.Setenv(name, "")
	}
	s := &setting{}
	s.Options = Options{Dir: t.TempDir(), Out: &s.out, Endpoint: h.URL, pause: func(int) time.Duration { return 0 }}
	return s
}

func (s *setting) pull(ctx context.Context, text string) (string, error) {
	r, err := models.Parse(text)
	if err != nil {
		return "", err
	}
	return Pull(ctx, r, s.Options)
}

// want pulls text and compares the file with data.
func (s *setting) want(t *testing.T, text string, data []byte) string {
	t.Helper()
	path, err := s.pull(t.Context(), text)
	if err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, data) {
		t.Fatalf("%s: %d bytes, want %d; %v", path, len(got), len(data), err)
	}
	for _, left := range []string{".part", ".part.tag", ".lock"} {
		if _, err := os.Stat(path + left); !os.IsNotExist(err) {
			t.Errorf("%s stays behind: %v", left, err)
		}
	}
	return path
}

// refuses pulls text and wants an error with these words.
func (s *setting) refuses(t *testing.T, text string, words ...string) string {
	t.Helper()
	path, err := s.pull(t.Context(), text)
	if err == nil {
		t.Fatalf("it went well: %s", path)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("got %q, want %q", err, w)
		}
	}
	return err.Error()
}

const one = "hf:a/b/m-Q4_K_M.gguf"

func TestHub(t *testing.T) {
	data := noise(300000)
	h := newHub(t, map[string][]byte{"m-Q4_K_M.gguf": data, "m-Q8_0.gguf": noise(500), "README.md": noise(7)})
	s := h.setting(t)
	path := s.want(t, "hf:a/b", data)
	if path != filepath.Join(s.Dir, "a", "b", "m-Q4_K_M.gguf") {
		t.Errorf("it lies at %s", path)
	}
	s.want(t, "hf:a/b:q8_0", noise(500))
	s.Endpoint = nobody // it is there, so nobody is asked
	s.want(t, one, data)
	if !strings.Contains(s.out.String(), one+" is there already") {
		t.Errorf("said %q", s.out.String())
	}
}

func TestParts(t *testing.T) {
	h := newHub(t, map[string][]byte{"Q4_0/m-00001-of-00002.gguf": noise(1000), "Q4_0/m-00002-of-00002.gguf": noise(2000)})
	s := h.setting(t)
	path := s.want(t, "hf:a/b:Q4_0", noise(1000))
	if second, err := os.ReadFile(strings.Replace(path, "00001-of", "00002-of", 1)); err != nil || !bytes.Equal(second, noise(2000)) {
		t.Errorf("the second part: %v", err)
	}
}

func TestTheTokenIsForTheHubAlone(t *testing.T) {
	data := noise(100)
	h := newHub(t, map[string][]byte{"m-Q4_K_M.gguf": data})
	h.token, h.status = "hf_secret", 401
	s := h.setting(t)
	t.Setenv("HF_TOKEN", "hf_secret")
	s.want(t, "hf:a/b", data)
	if got := strings.Join(h.seen, "; "); got != "hub Bearer hf_secret; content" {
		t.Errorf("seen: %s", got)
	}
}

func TestRefusals(t *testing.T) {
	h := newHub(t, map[string][]byte{"m-Q4_K_M.gguf": noise(10), "m-Q8_0.gguf": noise(10)})
	s := h.setting(t)
	s.refuses(t, "hf:a/b:Q2_K", "a/b has no Q2_K; there are", "Q4_K_M     m-Q4_K_M.gguf", "Q8_0")
	got := s.refuses(t, "hf:a/c-GGUF", "there is no repository a/c-GGUF; did you mean\n  hf:c/c-GGUF\n  hf:bad?[2J")
	if strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
	f := func(status int, code, token string, words ...string) {
		t.Helper()
		h.set(func() { h.status, h.code, h.token = status, code, "another" })
		s.Token = token
		if got := s.refuses(t, "hf:a/b", words...); token != "" && strings.Contains(got, token) {
			t.Errorf("the token is told: %s", got)
		}
	}
	f(401, "GatedRepo", "", "agree at "+h.URL+"/a/b, make a token at "+h.URL+"/settings/tokens and set HF_TOKEN to it")
	f(403, "GatedRepo", "hf_mine", "your token may not read a/b: agree to its terms at "+h.URL+"/a/b")
	f(401, "RepoNotFound", "", "there is no repository a/b for everyone", "set HF_TOKEN", "did you mean\n  hf:c/b-GGUF")
	f(401, "", "hf_mine", "your token is not taken for a/b: look after HF_TOKEN")
	f(418, "", "", "says 418")
	s.Endpoint = nobody
	s.refuses(t, "hf:a/b", "does not answer: ", "refused")
	empty := newHub(t, map[string][]byte{"model.safetensors": noise(10)})
	empty.setting(t).refuses(t, "hf:a/b", "a/b has no GGUF model; did you mean\n  hf:c/b-GGUF")
}
