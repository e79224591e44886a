//go:build templates

package prompt

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTemplatesOfTheNPMPackage renders the templates of Ollama's library that
// @huggingface/ollama-utils carries. It fetches the package.
func TestTemplatesOfTheNPMPackage(t *testing.T) {
	const name = "@huggingface/ollama-utils@0.0.18"
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "npm", "pack", "--silent", name, "--pack-destination", dir).CombinedOutput(); err != nil {
		t.Fatalf("fetching %s: %v\n%s", name, err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	templates := templatesOf(t, fileOf(t, files[0], "package/src/chat-template-automap.ts"))
	comparePublic(t, templates, "testdata/public/renderings-npm.txt", "testdata/public/differences-npm.txt")
}

// templatesOf finds the strings in the source of the list.
func templatesOf(t *testing.T, list string) []publicTemplate {
	t.Helper()
	var all []publicTemplate
	seen := map[string]int{}
	entry := regexp.MustCompile(`model: "library/([^"]+)",\s*gguf:\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`)
	for _, found := range entry.FindAllStringSubmatch(list, -1) {
		name, quoted := found[1], found[2]
		if quoted[0] == '\'' {
			quoted = `"` + strings.NewReplacer(`\'`, `'`, `"`, `\"`).Replace(quoted[1:len(quoted)-1]) + `"`
		}
		var source string
		if err := json.Unmarshal([]byte(quoted), &source); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s#%d", name, seen[name])
		}
		all = append(all, publicTemplate{name, source})
	}
	return all
}

func fileOf(t *testing.T, archive, name string) string {
	t.Helper()
	file, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if entry.Name != name {
			continue
		}
		data, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}
