package models

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Ref names a model: a file on this machine (Path), somewhere on the web (URL),
// or of a repository on Hugging Face (Owner, Name, and File or Quant).
type Ref struct {
	Text  string // as it was written
	Path  string
	URL   string
	Owner string
	Name  string
	File  string // slash-separated; "": to be chosen
	Quant string // such as Q4_K_M; "": to be chosen
}

// Known are the models that have a name of their own.
var Known = map[string]Ref{
	"smollm2": {Owner: "QuantFactory", Name: "SmolLM2-135M-Instruct-GGUF", File: "SmolLM2-135M-Instruct.Q4_1.gguf"},
}

var (
	hubName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$`)
	quantity = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,40}$`)
)

// Parse reads a name. Anything without a prefix that is not in Known is a path.
//
//	smollm2
//	hf:owner/name            hf:owner/name:Q4_K_M       hf:owner/name/file.gguf
//	https://example.org/m.gguf
//	/models/m.gguf
func Parse(text string) (Ref, error) {
	if r, ok := Known[text]; ok {
		r.Text = text
		return r, nil
	}
	for _, prefix := range []string{"hf:", "hf.co/", "https://hf.co/", "https://huggingface.co/"} {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return parseHub(text, rest)
		}
	}
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || !validFile(path.Base(u.Path)) {
			return Ref{}, fmt.Errorf("%q is no address of a .gguf file", text)
		}
		return Ref{Text: text, URL: text}, nil
	}
	if text == "" {
		return Ref{}, fmt.Errorf("the name of the model is empty")
	}
	return Ref{Text: text, Path: text}, nil
}

// parseHub reads owner/name, and :QUANT or /FILE after it.
func parseHub(text, rest string) (Ref, error) {
	r := Ref{Text: text}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) < 2 {
		return r, fmt.Errorf("%q names no repository; it should be like hf:owner/name or hf:owner/name:Q4_K_M", text)
	}
	r.Owner, r.Name = parts[0], parts[1]
	if len(parts) == 3 {
		r.File = parts[2]
		for _, page := range []string{"resolve/main/", "blob/main/"} { // an address out of a browser
			r.File = strings.TrimPrefix(r.File, page)
		}
		r.File, _, _ = strings.Cut(r.File, "?")
		if !validFile(r.File) {
			return r, fmt.Errorf("%q names no .gguf file", text)
		}
	} else if name, quant, ok := strings.Cut(r.Name, ":"); ok {
		r.Name, r.Quant = name, quant
		if !quantity.MatchString(quant) {
			return r, fmt.Errorf("%q asks for no quantization; it should be like hf:owner/name:Q4_K_M", text)
		}
	}
	if !hubName.MatchString(r.Owner) || !hubName.MatchString(r.Name) {
		return r, fmt.Errorf("%q names no repository; it should be like hf:owner/name or hf:owner/name:Q4_K_M", text)
	}
	return r, nil
}

// validFile reports whether name is a relative path of a GGUF file that stays
// where it is put, on every system.
func validFile(name string) bool {
	if !strings.HasSuffix(strings.ToLower(name), ".gguf") || strings.ContainsAny(name, `\:*?"<>|`) {
		return false
	}
	if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(name, "/"), func(s string) bool {
		return s == "" || strings.Trim(s, ". ") == "" || strings.HasSuffix(s, ".") || strings.HasSuffix(s, " ")
	})
}
