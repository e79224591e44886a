package config

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dragoman/gateway/models"
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
	example := regexp.MustCompile(`(?m)^( *)# ( *(?:(?:"[^"]+"|[a-z][a-z0-9_-]*):(?: .*)?|- \{.*\}))$`)
	all := example.ReplaceAll(src, []byte("$1$2"))
	downloaded(t)
	c, err = Parse(all)
	if err != nil {
		t.Fatalf("%v\n%s", err, all)
	}
	if len(c.Models) < 8 || len(c.Models[6].Backends) != 3 || len(c.Keys) != 1 || c.Adapters["my-flask-loop"] == nil {
		t.Errorf("not all examples were switched on: %+v", c)
	}
}

// downloaded makes it seem that the model of the examples was pulled.
func downloaded(t *testing.T) {
	t.Helper()
	dir, r := t.TempDir(), models.Known["smollm2"]
	t.Setenv("DRAGOMAN_MODELS", dir)
	file := filepath.Join(dir, r.Owner, r.Name, r.File)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentation: what the documentation shows can be used as it is.
func TestDocumentation(t *testing.T) {
	block := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
	downloaded(t)
	t.Setenv("LLM_KEY", "a-key")
	t.Setenv("LLM_KEY_ID", "a-key-id")
	for page, least := range map[string]int{
		"../../README.md": 2, "../../docs/adding-an-adapter.md": 2, "../../docs/routing.md": 1, "../../docs/fastchat.md": 2, "../../docs/backends.md": 2,
	} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		found := block.FindAllSubmatch(text, -1)
		if len(found) < least {
			t.Errorf("%s: %d examples", page, len(found))
		}
		for _, m := range found {
			if _, err := Parse(m[1]); err != nil {
				t.Errorf("%s: %v\n%s", page, err, m[1])
			}
		}
	}
}

// TestAdapterKeysAreDocumented tries the examples in the tables of
// docs/adding-an-adapter.md, each in an adapter that is complete but for it.
func TestAdapterKeysAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/adding-an-adapter.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `[a-z_`, ]+` \\| .* \\| `(.*)` \\|$")
	section := "facts"
	tried := 0
	for _, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "What is sent"):
			section = "send"
		case strings.HasPrefix(line, "A shape"):
			section = "shape"
		case strings.HasPrefix(line, "What is read"):
			section = "read"
		}
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		tried++
		if _, err := Parse([]byte(withExample(section, m[1]))); err != nil {
			t.Errorf("%s\n%v\n%s", line, err, withExample(section, m[1]))
		}
	}
	if tried < 27 {
		t.Errorf("%d examples were found", tried)
	}
}

// withExample returns a configuration with an adapter that has the key of
// example in one of its parts.
func withExample(section, example string) string {
	key, _, _ := strings.Cut(example, ":")
	facts := map[string]string{"framing": "framing: ndjson", "eof_is_finish": "eof_is_finish: true"}
	send := map[string]string{"map": "map: {messages: m}"}
	read := map[string]string{"text": "text: t", "finish": "finish: f"}
	if strings.HasPrefix(key, "error_") {
		read["error"] = "error: e"
	}
	switch section {
	case "facts":
		facts[key] = example
	case "send":
		send[key] = example
	case "shape":
		if send["map"] = "map: {messages: m, " + example + "}"; key == "prompt" {
			send["map"] = "map: {" + example + "}"
		}
	case "read":
		read[key] = example
	}
	facts["send"] = "send: {" + list(send) + "}"
	facts["read"] = "read: {" + list(read) + "}"
	model := "models: {m: {adapter: x, url: \"http://h\", template: chatml}}\n"
	if !strings.Contains(send["map"], "prompt") {
		model = "models: {m: {adapter: x, url: \"http://h\"}}\n"
	}
	return model + "adapters: {x: {" + list(facts) + "}}"
}

func list(entries map[string]string) string {
	return strings.Join(slices.Sorted(maps.Values(entries)), ", ")
}
