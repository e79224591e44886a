package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// The public templates come with packages; what Python's jinja2 makes of them
// was recorded by testdata/public/reference.py.

type publicTemplate struct{ name, source string }

// TestPublicTemplates renders the templates that Go modules of this build bring.
func TestPublicTemplates(t *testing.T) {
	comparePublic(t, ofModules(t), "testdata/public/renderings.txt", "testdata/public/differences.txt")
}

// ofModules returns the templates in the module cache.
func ofModules(t *testing.T) []publicTemplate {
	t.Helper()
	var all []publicTemplate
	for _, from := range []struct{ module, folder string }{
		{"github.com/ardanlabs/jinja", "testdata/templates"},
		{"github.com/hybridgroup/yzma", "pkg/template/prompts"},
	} {
		dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", from.module).Output()
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), from.folder, "*.jinja"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, publicTemplate{strings.TrimSuffix(filepath.Base(file), ".jinja"), string(source)})
		}
	}
	return all
}

// TestShownRenderings compares some prompts in full, for people to read.
func TestShownRenderings(t *testing.T) {
	files, err := filepath.Glob("testdata/public/shown/*.txt")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	templates, requests := ofModules(t), publicRequests(t)
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		tm := templates[slices.IndexFunc(templates, func(p publicTemplate) bool { return strings.HasPrefix(name, p.name+".") })]
		title := strings.ReplaceAll(strings.TrimPrefix(name, tm.name+"."), "-", " ")
		r := requests[slices.IndexFunc(requests, func(r publicRequest) bool { return r.title == title })]
		got, err := mustJinja(t, tm.source, publicOptions).Render(r.request)
		if err != nil || got.Prompt.Text() != string(want) {
			t.Errorf("%s:\n got %s, %v\nwant %s", name, got.Prompt.Text(), err, want)
		}
	}
}

var publicOptions = Options{BOS: "<s>", EOS: "</s>", Now: func() time.Time { return referenceTime }}

// comparePublic renders every request with every template. What differs from
// Python must be in the file differences, and nothing else may be: prompts, and
// the parts of conversations that are refused because the template loses them.
func comparePublic(t *testing.T, templates []publicTemplate, recorded, differences string) {
	want := readRenderings(t, recorded)
	requests := publicRequests(t)
	var list strings.Builder
	prompts, same, refused, sameRefused := 0, 0, 0, 0
	for _, tm := range templates {
		record := want[tm.name]
		if record == nil || record["source"] != short(tm.source) {
			t.Errorf("%s: the recording is of another template", tm.name)
			continue
		}
		compiled, err := compile(tm.source, publicOptions)
		if err != nil {
			t.Errorf("%s: %v", tm.name, err)
			continue
		}
		for _, r := range requests {
			python, here := record[r.title], publicOutcome(t, compiled, r.request)
			if isPrompt(python) {
				prompts++
				same += count(python == here)
			} else {
				refused++
				sameRefused += count(python == here)
			}
			if python != here {
				fmt.Fprintf(&list, "%s: %s: %s, in Python %s\n", tm.name, r.title, shown(here), shown(python))
			}
		}
		for s, support := range compiled.support {
			if support.dropped {
				fmt.Fprintf(&list, "%s: loses %s\n", tm.name, shapeNames[s])
			}
		}
	}
	t.Logf("%d templates: %d of %d prompts and %d of %d refusals are Python's", len(templates), same, prompts, sameRefused, refused)
	known, err := os.ReadFile(differences)
	if err != nil {
		t.Fatal(err)
	}
	if list.String() != string(known) {
		t.Errorf("the differences are not those of %s, but:\n%s", differences, list.String())
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func isPrompt(outcome string) bool {
	return len(outcome) == 12 && strings.Trim(outcome, "0123456789abcdef") == ""
}

func shown(outcome string) string {
	if isPrompt(outcome) {
		return "another prompt"
	}
	return outcome
}

// publicOutcome renders as Render does, but also what the template would lose.
func publicOutcome(t *testing.T, tm *template, req *llm.Request) string {
	t.Helper()
	c, err := tm.conversation(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := tm.execute(c)
	if err == nil {
		text, err = c.cut(text)
	}
	if r := (*refusal)(nil); errors.As(err, &r) {
		return "refused"
	}
	if err != nil {
		return "error"
	}
	return short(text)
}

// short is how renderings.txt names a text.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

// readRenderings returns the outcomes by template and request title; "source"
// is the template itself.
func readRenderings(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	var one map[string]string
	for line := range strings.Lines(string(data)) {
		first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if line[0] == ' ' {
			one[rest] = first
			continue
		}
		one = map[string]string{"source": rest}
		all[first] = one
	}
	return all
}

type publicRequest struct {
	title   string
	request *llm.Request
}

// publicRequests reads requests as the front end would.
func publicRequests(t *testing.T) []publicRequest {
	t.Helper()
	var all []publicRequest
	readLines(t, "testdata/public/requests.jsonl", func(line []byte) {
		var body struct {
			Title    string
			Messages []json.RawMessage
		}
		members, err := jsonscan.Members(line, 100)
		if err == nil {
			err = json.Unmarshal(line, &body)
		}
		if err != nil {
			t.Fatal(err)
		}
		req := &llm.Request{Raw: line, Members: members}
		for _, raw := range body.Messages {
			req.Messages = append(req.Messages, publicMessage(t, raw))
		}
		all = append(all, publicRequest{body.Title, req})
	})
	return all
}

func publicMessage(t *testing.T, raw []byte) llm.Message {
	t.Helper()
	var m struct {
		Role, Name string
		Content    any
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	message := llm.Message{Role: m.Role, Name: m.Name, ToolCallID: m.ToolCallID, Raw: raw}
	switch content := m.Content.(type) {
	case string:
		message.Content = content
	case []any:
		for _, part := range content {
			message.Content += part.(map[string]any)["text"].(string)
		}
	}
	for _, c := range m.ToolCalls {
		message.ToolCalls = append(message.ToolCalls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return message
}
