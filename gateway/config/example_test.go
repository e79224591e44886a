package config

import (
	"os"
	"regexp"
	"testing"
)

// TestShippedConfiguration: config.yaml works as it is, and with each of its
// examples switched on.
func TestShippedConfiguration(t *testing.T) {
	c, err := Load("../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Models) != 1 || c.Models[0].Name != "stories" || c.Models[0].Aliases[0] != "stories15M" || len(c.Listen) != 2 {
		t.Errorf("got %+v", c)
	}
	src, err := os.ReadFile("../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"DRAGOMAN_KEY", "BIG_KEY"} {
		t.Setenv(name, "a-key")
	}
	// Prose has a capital letter or a full stop; examples are keys.
	example := regexp.MustCompile(`(?m)^( *)# ( *(?:"[^"]+"|[a-z][a-z0-9_-]*):(?: .*)?)$`)
	all := example.ReplaceAll(src, []byte("$1$2"))
	all = regexp.MustCompile(`models/smollm2\.gguf`).ReplaceAll(all, []byte("testdata/own.jinja")) // a file that is there
	c, err = Parse(all)
	if err != nil {
		t.Fatalf("%v\n%s", err, all)
	}
	if len(c.Models) < 5 || len(c.Keys) != 1 || c.Adapters["my-flask-loop"] == nil {
		t.Errorf("not all examples were switched on: %+v", c)
	}
}
