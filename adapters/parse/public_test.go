package parse

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/adapters/llm"
	"dragoman/adapters/prompt"
)

// What a template makes of an assistant's call is what its model was trained to
// write: it must be read as that call. The templates are public models' own, as
// a module of this build brings them.
func TestCallsOfPublicTemplates(t *testing.T) {
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/ardanlabs/jinja").Output()
	if err != nil {
		t.Fatal(err)
	}
	f := func(name, family string) {
		t.Helper()
		source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "testdata/templates", name+".jinja"))
		if err != nil {
			t.Fatal(err)
		}
		template, err := prompt.Jinja(string(source), prompt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		req := offering(t)
		req.Messages = []llm.Message{{Role: "user", Content: "hello"}}
		before, err := template.Render(req)
		if err != nil {
			t.Fatal(err)
		}
		format := New(before.Source, Auto, Auto)
		if !before.Tools || !format.Tools() || format.family.name != family {
			t.Fatalf("%s: tools %v, family %v, want %s", name, before.Tools, format.family, family)
		}
		req.Messages = append(req.Messages, llm.Message{Role: "assistant", ToolCalls: []llm.ToolCall{{ID: "abcdefghi", Name: "f", Arguments: `{"s": "a}b", "n": 7}`}}})
		after, err := template.Render(req)
		if err != nil {
			t.Fatal(err)
		}
		written := after.Prompt.Text()
		for _, c := range []byte(before.Prompt.Text()) {
			if written[0] != c {
				break
			}
			written = written[1:]
		}
		for way, pieces := range chunkings(written) {
			if got, want := read(t, format.Plan(req, before.OpensThink), pieces), `{f {"s": "a}b", "n": 7}}`; !strings.HasPrefix(got, want) {
				t.Errorf("%s, %s: %q\n got %q\nwant %q", name, way, written, got, want)
			}
		}
	}
	f("DeepSeek-V4-Flash", "deepseek-v3.2")
	f("DeepSeek-V4.1-Flash", "deepseek-v4.1")
	f("GLM-5.2", "glm")
	f("Kimi-K3", "kimi-k3")
	f("Llama-3.2-1B-Instruct-GGUF", "llama3")
	f("Ministral-3-14B-Instruct-2512-Q4_0", "mistral")
	f("Mistral-Medium-3.5-128B-GGUF", "mistral")
	f("NVIDIA-Nemotron-3-Super", "qwen3-coder")
	f("Qwen3-8B-Q8_0", "hermes")
	f("Qwen3-VL-30B-A3B-Instruct-Q8_0", "hermes")
	f("Qwen3.5-35B-A3B-Q8_0", "qwen3-coder")
	f("gpt-oss-20b-Q8_0", "harmony")
	f("laguna", "glm")
	f("rnj-1-instruct-Q6_K", "hermes")
}
