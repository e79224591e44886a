package pull

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestCutConnectionsGoOn(t *testing.T) {
	data := noise(1 << 20)
	h := newHub(t, map[string][]byte{"m-Q4_K_M.gguf": data})
	h.cut = 300000
	s := h.setting(t)
	s.want(t, one, data)
	var ranges []string
	for _, line := range h.seen {
		if what, ok := strings.CutPrefix(line, "content"); ok {
			ranges = append(ranges, strings.TrimSpace(what))
		}
	}
	if len(ranges) != 4 || ranges[0] != "" || ranges[1] != "bytes=300000-" || ranges[3] != "bytes=900000-" {
		t.Errorf("asked for %q", ranges)
	}
}

// A run that is stopped is gone on with by the next.
func TestResume(t *testing.T) {
	data := noise(1 << 20)
	f := func(name string, change func(*hub, *setting, string), begins string) {
		t.Helper()
		h := newHub(t, map[string][]byte{"m-Q4_K_M.gguf": data})
		h.cut = 400000
		s := h.setting(t)
		ctx, stop := context.WithCancel(t.Context())
		s.pause = func(int) time.Duration { stop(); return time.Hour }
		if _, err := s.pull(ctx, one); err == nil || !strings.Contains(err.Error(), "m-Q4_K_M.gguf was not downloaded whole: stopped; 390.6 KiB of it are kept, and the same command goes on") {
			t.Fatalf("%s: got %v", name, err)
		}
		s.pause = nil
		h.set(func() { h.cut, h.seen = 0, nil })
		change(h, s, filepath.Join(s.Dir, "a", "b", "m-Q4_K_M.gguf.part"))
		s.want(t, one, h.files["m-Q4_K_M.gguf"])
		if h.seen[1] != begins {
			t.Errorf("%s: asked for %q", name, h.seen)
		}
	}
	edit := func(path string, change func([]byte) []byte) {
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, change(b), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	f("the rest", func(*hub, *setting, string) {}, "content bytes=400000-")
	f("no ranges", func(h *hub, _ *setting, _ string) { h.plain = true }, "content bytes=400000-")
	f("another file", func(h *hub, _ *setting, _ string) { h.files["m-Q4_K_M.gguf"] = noise(5000) }, "content")
	f("damaged here", func(_ *hub, _ *setting, part string) {
		edit(part, func(b []byte) []byte { b[5]++; return b })
	}, "content bytes=400000-")
	f("too long", func(_ *hub, _ *setting, part string) {
		edit(part, func([]byte) []byte { return noise(1 << 21) })
	}, "content")
	f("no note", func(_ *hub, _ *setting, part string) { os.Remove(part + ".tag") }, "content")
}

func TestMismatch(t *testing.T) {
	h := newHub(t, map[string][]byte{"m-Q4_K_M.gguf": noise(1000)})
	s := h.setting(t)
	h.sum = strings.Repeat("0", 64)
	s.refuses(t, one, "downloading m-Q4_K_M.gguf: not what was announced: its sha256 is ", ", and it should be 0000")
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "a", "b", "*.gguf*")); len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("left behind: %q", left)
	}
	h.sum = ""
	// The listing says one size, the content another.
	short := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(noise(999)) }))
	defer short.Close()
	h.content.Config.Handler = short.Config.Handler
	s.refuses(t, one, "the server has 999 bytes, and it should be 1000")
	h.content.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		w.Write(noise(1001))
	})
	s.refuses(t, one, "the server sends more than 1000 bytes")
}

// full is a disk that takes so many bytes.
type full struct {
	*os.File
	left int
}

func (f *full) Write(b []byte) (int, error) {
	if len(b) <= f.left {
		f.left -= len(b)
		return f.File.Write(b)
	}
	n, _ := f.File.Write(b[:f.left])
	f.left = 0
	return n, &os.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
}

func TestDiskFull(t *testing.T) {
	data := noise(1 << 20)
	h := newHub(t, map[string][]byte{"m-Q4_K_M.gguf": data})
	s := h.setting(t)
	s.open = func(path string) (partial, error) {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		return &full{f, 500000}, err
	}
	s.refuses(t, one, "the disk is full: m-Q4_K_M.gguf was not downloaded whole; 488.3 KiB of it are kept")
	s.open = nil
	h.seen = nil
	s.want(t, one, data)
	if h.seen[1] != "content bytes=500000-" {
		t.Errorf("asked for %q", h.seen)
	}
}

func TestDiskTooSmall(t *testing.T) {
	d := &download{name: "m", part: filepath.Join(t.TempDir(), "m"), file: &file{size: 1 << 60}}
	if err := d.room(); err == nil || !strings.Contains(err.Error(), "the disk is too full: m needs 1073741824.00 GiB more, and ") {
		t.Errorf("got %v", err)
	}
}

func TestManyAtOnce(t *testing.T) {
	data := noise(1 << 20)
	h := newHub(t, map[string][]byte{"m-Q4_K_M.gguf": data})
	s := h.setting(t)
	s.Out = nil // of one at a time
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := s.pull(t.Context(), one); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.want(t, one, data)
	if h.sent != 1 {
		t.Errorf("downloaded %d times", h.sent)
	}
}

func TestURL(t *testing.T) {
	data := noise(1 << 20)
	var ranges []string
	etag, cut := `"v1"`, 400000
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range")+" "+r.Header.Get("If-Range"))
		w.Header().Set("ETag", etag)
		if cut > 0 {
			w = &cutter{w, cut}
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer web.Close()
	s := newHub(t, nil).setting(t)
	ctx, stop := context.WithCancel(t.Context())
	s.pause = func(int) time.Duration { stop(); return time.Hour }
	if _, err := s.pull(ctx, web.URL+"/x/m.gguf?key=secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Fatalf("got %v", err)
	}
	s.pause, cut = func(int) time.Duration { return 0 }, 0
	s.want(t, web.URL+"/x/m.gguf", data)
	if ranges[1] != `bytes=400000- "v1"` {
		t.Errorf("asked for %q", ranges)
	}
	s.want(t, web.URL+"/x/m.gguf", data)
	if len(ranges) != 2 {
		t.Errorf("asked again: %q", ranges)
	}
	s.refuses(t, strings.Replace(web.URL, "http://", "https://", 1)+"/y.gguf", "downloading y.gguf: ")
}

// A file that has changed meanwhile is taken from its beginning.
func TestURLThatChanged(t *testing.T) {
	data, etag, cut := noise(1<<20), `"v1"`, 400000
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		if cut > 0 {
			w = &cutter{w, cut}
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	}))
	defer web.Close()
	s := newHub(t, nil).setting(t)
	s.pause = func(int) time.Duration {
		data, etag, cut = noise(1<<19), `"v2"`, 0
		return 0
	}
	s.want(t, web.URL+"/m.gguf", noise(1<<19))
}

func TestServersThatFail(t *testing.T) {
	f := func(want string, answer http.HandlerFunc) {
		t.Helper()
		web := httptest.NewServer(answer)
		defer web.Close()
		s := newHub(t, nil).setting(t)
		s.stall = 50 * time.Millisecond
		s.refuses(t, web.URL+"/m.gguf", want)
	}
	f("the server says 503", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
	f("the server says 404", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) })
	f("it redirects without end", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	f("the connection was cut", func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte("x"))
		w.(http.Flusher).Flush()
		<-r.Context().Done() // silent
	})
	f("asked for what begins at byte 1, the server gives \"bytes 0-5/6\"", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Content-Length", "6")
		if r.Header.Get("Range") != "" {
			w.Header().Set("Content-Range", "bytes 0-5/6")
			w.WriteHeader(http.StatusPartialContent)
			return
		}
		(&cutter{w, 1}).Write([]byte("xxxxxx"))
	})
}

func TestPaths(t *testing.T) {
	s := newHub(t, nil).setting(t)
	here := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(here, []byte("GGUF"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.pull(t.Context(), here); err != nil || got != here {
		t.Errorf("got %s, %v", got, err)
	}
	s.refuses(t, "a/b", "there is no file a/b, and a model on Hugging Face is written hf:owner/name")
}

func TestProgress(t *testing.T) {
	f := func(terminal bool, total int64, want ...string) {
		t.Helper()
		var out bytes.Buffer
		p := newProgress(&out, terminal, "m.gguf", total)
		p.set(0)
		p.set(512)
		p.begin = time.Now().Add(-time.Hour)
		p.remark("oh")
		p.end()
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("got %q, want %q", out.String(), w)
			}
		}
	}
	f(true, 1024, "\r\x1b[Km.gguf  [##########..........]  50%  512 B of 1.0 KiB  0 B/s  8m32s left\n", "oh\n")
	f(false, 1024, "m.gguf  [##########..........]  50%  512 B of 1.0 KiB  0 B/s  8m32s left\n")
	f(false, -1, "m.gguf  512 B  0 B/s\n")
	for n, want := range map[int64]string{0: "0 B", 1536: "1.5 KiB", 98362432: "93.8 MiB", 5 << 30: "5.00 GiB"} {
		if got := bytesText(n); got != want {
			t.Errorf("%d: got %s", n, got)
		}
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	s := newHub(t, nil).setting(t)
	s.Client = &http.Client{Transport: failing{}}
	got := s.refuses(t, "https://me:secret@h/m.gguf?sig=secret", "no route")
	if strings.Contains(got, "secret") {
		t.Errorf("got %s", got)
	}
}

type failing struct{}

func (failing) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("no route: %w", errors.Join(io.EOF))
}
