package pull

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"

	"dragoman/gateway/models"
)

// Bounds of what a server may answer.
const (
	maxListing = 16 << 20 // bytes of one page
	maxPages   = 100
)

// entry is a file of a repository, as the listing tells.
type entry struct {
	Type string `json:"type"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	LFS  *struct {
		SHA256 string `json:"oid"`
		Size   int64  `json:"size"`
	} `json:"lfs"`
}

// fromHub downloads what r means from Hugging Face.
func (p *puller) fromHub(ctx context.Context, r models.Ref) (string, error) {
	if r.File != "" {
		if path, err := models.Find(p.Dir, r); err == nil {
			fmt.Fprintf(p.Out, "%s is there already\n", r.Text)
			return path, nil
		}
	}
	entries, err := p.tree(ctx, r)
	if err != nil {
		return "", err
	}
	byPath := map[string]entry{}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		byPath[e.Path] = e
		names = append(names, e.Path)
	}
	chosen, err := models.Choose(names, r)
	if err != nil {
		return "", fmt.Errorf("%w%s", err, p.near(ctx, r, len(names) > 0 && !strings.Contains(err.Error(), "there are")))
	}
	first := ""
	for _, name := range chosen.Files {
		e := byPath[name]
		f := file{
			url: p.hubURL(r.Owner, r.Name, "resolve", "main") + "/" + escape(name), token: p.hubToken(),
			to:   filepath.Join(p.Dir, r.Owner, r.Name, filepath.FromSlash(name)),
			size: e.Size, refuse: func(status int, header func(string) string) error { return p.no(ctx, r, status, header) },
		}
		if e.LFS != nil {
			f.size, f.sha256 = e.LFS.Size, strings.TrimPrefix(e.LFS.SHA256, "sha256:")
		}
		if first == "" {
			first = f.to
		}
		if err := p.fetch(ctx, &f); err != nil {
			return "", err
		}
	}
	return first, nil
}

// hubURL joins parts of a path to the endpoint.
func (p *puller) hubURL(parts ...string) string {
	return strings.TrimRight(p.Endpoint, "/") + "/" + strings.Join(parts, "/")
}

// escape makes a path fit for an address.
func escape(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// hubToken is the token, if the way to the endpoint is safe.
func (p *puller) hubToken() string {
	u, err := url.Parse(p.Endpoint)
	if err != nil {
		return ""
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Scheme == "https" || u.Hostname() == "localhost" || err == nil && ip.IsLoopback() {
		return p.Token
	}
	return ""
}

var nextPage = regexp.MustCompile(`<([^>]+)>\s*;\s*rel="?next"?`)

// tree lists the files of a repository.
func (p *puller) tree(ctx context.Context, r models.Ref) (all []entry, err error) {
	address := p.hubURL("api", "models", r.Owner, r.Name, "tree", "main") + "?recursive=true"
	for range maxPages {
		var page []entry
		header, err := p.getJSON(ctx, address, &page, func(status int, header func(string) string) error { return p.no(ctx, r, status, header) })
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			if e.Type == "file" {
				all = append(all, e)
			}
		}
		m := nextPage.FindStringSubmatch(header.Get("Link"))
		if m == nil {
			return all, nil
		}
		if !strings.HasPrefix(m[1], strings.TrimRight(p.Endpoint, "/")+"/") {
			return nil, errors.New("the list of files goes on at another host")
		}
		address = m[1]
	}
	return nil, errors.New("the list of files has no end")
}

// getJSON asks the endpoint for JSON. refuse puts a refusal into words.
func (p *puller) getJSON(ctx context.Context, address string, into any, refuse func(int, func(string) string) error) (http.Header, error) {
	req, err := p.request(ctx, address, p.hubToken())
	if err != nil {
		return nil, err
	}
	res, err := p.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%s does not answer: %w", req.URL.Host, clean(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		if err := refuse(res.StatusCode, res.Header.Get); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s says %s", req.URL.Host, res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxListing))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return nil, fmt.Errorf("%s answers with what is not understood: %w", req.URL.Host, err)
	}
	return res.Header, nil
}

// no puts a refusal by status into words; nil if it has none.
func (p *puller) no(ctx context.Context, r models.Ref, status int, header func(string) string) error {
	repo, code := r.Owner+"/"+r.Name, header("X-Error-Code")
	page := p.hubURL(r.Owner, r.Name)
	token := fmt.Sprintf("make a token at %s and set HF_TOKEN to it", p.hubURL("settings", "tokens"))
	switch {
	case status == http.StatusForbidden || code == "GatedRepo":
		if p.hubToken() == "" {
			return fmt.Errorf("%s is given to people who have agreed to its terms: agree at %s, %s", repo, page, token)
		}
		return fmt.Errorf("your token may not read %s: agree to its terms at %s, and let the token read gated repositories", repo, page)
	case status == http.StatusUnauthorized && p.hubToken() == "":
		return fmt.Errorf("there is no repository %s for everyone; if it is a private one, %s%s", repo, token, p.near(ctx, r, true))
	case status == http.StatusUnauthorized:
		return fmt.Errorf("your token is not taken for %s: look after HF_TOKEN", repo)
	case status == http.StatusNotFound && code == "EntryNotFound":
		return fmt.Errorf("%s has no such file", repo)
	case status == http.StatusNotFound:
		return fmt.Errorf("there is no repository %s%s", repo, p.near(ctx, r, true))
	}
	return nil
}

// near lists repositories with GGUF files and names like r's, if wanted.
func (p *puller) near(ctx context.Context, r models.Ref, wanted bool) string {
	if !wanted {
		return ""
	}
	q := url.Values{"search": {strings.TrimSuffix(r.Name, "-GGUF")}, "filter": {"gguf"}, "limit": {"5"}}
	var found []struct{ ID string }
	silent := func(int, func(string) string) error { return nil }
	if _, err := p.getJSON(ctx, p.hubURL("api", "models")+"?"+q.Encode(), &found, silent); err != nil || len(found) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("; did you mean")
	for _, f := range found[:min(len(found), 5)] {
		fmt.Fprintf(&b, "\n  hf:%.120s", strings.Map(printable, f.ID))
	}
	return b.String()
}

// printable replaces what could upset a terminal.
func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}
