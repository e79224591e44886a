package declared

import (
	"os"
	"path/filepath"
	"testing"

	"gopkg.in/yaml.v3"

	"dragoman/adapters/adaptertest"
)

func parse(t testing.TB, source string) (*Spec, []error) {
	t.Helper()
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(source), &n); err != nil {
		t.Fatal(err)
	}
	return Parse("mine", &n)
}

func TestContract(t *testing.T) {
	paths, _ := filepath.Glob("testdata/*/adapter.yaml")
	if len(paths) == 0 {
		t.Fatal("no adapters")
	}
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			spec, errs := parse(t, string(source))
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			adaptertest.Run(t, New(spec), filepath.Dir(path))
		})
	}
}
