package text_test

import (
	"io/fs"
	"strings"
	"testing"

	"dragoman/adapters/adaptertest"
	"dragoman/adapters/builtin"
	"dragoman/adapters/text"
)

func TestContract(t *testing.T) {
	all := builtin.All()
	files, err := fs.Glob(text.Files, "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no adapters (%v)", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".yaml")
		t.Run(name, func(t *testing.T) { adaptertest.Run(t, all[name], "testdata/"+name) })
	}
}
