// Package test holds checks of the repository itself and whatever needs more
// than one package: end-to-end tests, client programs, benchmarks.
package test

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// arrows are the imports that must not be, and why. A rule reads: packages
// below From may not depend on packages below To, directly or not.
var arrows = []struct{ from, to, reason string }{
	{"adapters", "gateway", "adapters serve any front end"},
	{"adapters", "engine", "the native adapter knows the engine's bytes only (engine/PROTOCOL.md)"},
	{"adapters", "github.com/valyala/fasthttp", "backends are called through net/http"},
	{"engine", "gateway", "the engine is a server like any other"},
	{"engine", "adapters", "the engine knows nothing of dialects"},
	{"gateway/openai", "github.com/valyala/fasthttp", "the wire format knows no transport"},
	{"gateway/config", "github.com/valyala/fasthttp", "fasthttp belongs to server and sse"},
	{"gateway/route", "github.com/valyala/fasthttp", "fasthttp belongs to server and sse"},
	{"gateway/managed", "github.com/valyala/fasthttp", "fasthttp belongs to server and sse"},
	{"gateway/managed", "adapters", "starting a process has nothing to do with dialects"},
	{"adapters/llm", "dragoman/", "llm holds the words that all others share"},
}

// direct are the direct imports that must not be.
var direct = []struct{ from, to, reason string }{
	{"gateway", "dragoman/engine", "the gateway starts the engine as a process"},
	{"adapters/fastchat", "dragoman/adapters/native", "an adapter does not know another"},
	{"adapters/native", "dragoman/adapters/declared", "an adapter does not know another"},
	{"adapters/openai", "dragoman/adapters/declared", "an adapter does not know another"},
}

func TestImportArrows(t *testing.T) {
	deps := goList(t, "{{.ImportPath}} {{join .Deps \" \"}}")
	for _, rule := range arrows {
		for pkg, imports := range deps {
			if !below(pkg, "dragoman/"+rule.from) {
				continue
			}
			for _, imp := range imports {
				to := rule.to
				if !strings.Contains(to, ".") && !strings.HasPrefix(to, "dragoman/") {
					to = "dragoman/" + to
				}
				if below(imp, strings.TrimSuffix(to, "/")) && imp != pkg {
					t.Errorf("%s depends on %s: %s", pkg, imp, rule.reason)
				}
			}
		}
	}
	for pkg, imports := range goList(t, "{{.ImportPath}} {{join .Imports \" \"}}") {
		for _, rule := range direct {
			for _, imp := range imports {
				if below(pkg, "dragoman/"+rule.from) && below(imp, rule.to) {
					t.Errorf("%s imports %s: %s", pkg, imp, rule.reason)
				}
			}
		}
		for _, imp := range imports {
			if imp == "github.com/valyala/fasthttp" && !below(pkg, "dragoman/gateway/server") && !below(pkg, "dragoman/gateway/sse") {
				t.Errorf("%s imports fasthttp, which belongs to gateway/server and gateway/sse", pkg)
			}
			if strings.HasPrefix(imp, "github.com/aws/") && !below(pkg, "dragoman/gateway/sigv4") {
				t.Errorf("%s imports the AWS SDK, which belongs to gateway/sigv4", pkg)
			}
			if strings.HasPrefix(imp, "github.com/hybridgroup/yzma") && !below(pkg, "dragoman/engine/llama") {
				t.Errorf("%s imports the llama.cpp binding, which belongs to engine/llama", pkg)
			}
		}
	}
}

// goList runs go list over all packages; each line of its output is a package
// followed by a list.
func goList(t *testing.T, format string) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", format, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		packages[words[0]] = words[1:]
	}
	return packages
}

func below(pkg, root string) bool { return pkg == root || strings.HasPrefix(pkg, root+"/") }

func TestPackagesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, path := range goFiles(t) {
		dir := filepath.Dir(path)
		if strings.HasSuffix(path, "_test.go") && documented[dir] {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		documented[dir] = documented[dir] || len(file.Doc.Text()) > 40
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment that says what it is for", dir)
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, path := range goFiles(t) {
		limit := 350
		if strings.HasSuffix(path, "_test.go") {
			limit = 450
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(source, []byte("\n")); lines > limit {
			t.Errorf("%s has %d lines, more than %d: more than one thing in it?", path, lines, limit)
		}
	}
}

func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			switch entry.Name() {
			case ".git", "node_modules", "bin", ".venv":
				return filepath.SkipDir
			}
		}
		if strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestDocumentedTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	pages, _ := filepath.Glob("../docs/*.md")
	for _, page := range append(pages, "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`make ([a-z][a-z0-9-]*)").FindAllStringSubmatch(string(text), -1) {
			if !regexp.MustCompile(`(?m)^` + m[1] + `:`).Match(makefile) {
				t.Errorf("%s says make %s, which the Makefile does not have", page, m[1])
			}
		}
	}
}

// TestLinksLead follows the links between the repository's own documents.
func TestLinksLead(t *testing.T) {
	pages, _ := filepath.Glob("../docs/*.md")
	adrs, _ := filepath.Glob("../docs/adr/*.md")
	for _, page := range append(append(pages, adrs...), "../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}
