package builtin

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

var update = flag.Bool("update", false, "write the tables of docs/backends.md anew")

// TestTable keeps the tables of docs/backends.md true: they are made of what
// the adapters say of themselves and of what their contract tests show.
func TestTable(t *testing.T) {
	const file = "../../docs/backends.md"
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := All()
	want := page
	for _, table := range []struct {
		name string
		head string
		row  func(t *testing.T, name string, a adapters.Adapter) string
	}{
		{"protocol", "| adapter | route | framing | takes | text | why it ended | counts | proven by |\n|---|---|---|---|---|---|---|---|\n", protocolRow},
		{"asked", "| adapter | health | models | embeddings | told to stop |\n|---|---|---|---|---|\n", askedRow},
		{"accepts", "| adapter | accepts |\n|---|---|\n", acceptsRow},
	} {
		text := table.head
		for _, name := range slices.Sorted(maps.Keys(all)) {
			text += table.row(t, name, all[name])
		}
		want = replaceTable(t, want, table.name, text)
	}
	if bytes.Equal(page, want) {
		return
	}
	if !*update {
		t.Fatalf("%s is stale: go test ./adapters/builtin -update", file)
	}
	if err := os.WriteFile(file, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// replaceTable puts text between the marks of the table called name.
func replaceTable(t *testing.T, page []byte, name, text string) []byte {
	t.Helper()
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->\n"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("docs/backends.md lacks the marks of the table %q", name)
	}
	return []byte(before + begin + text + end + after)
}

func protocolRow(t *testing.T, name string, a adapters.Adapter) string {
	t.Helper()
	traits := a.Traits()
	takes, text := "prompt", "new text"
	if traits.Messages {
		takes = "messages"
	}
	if traits.Cumulative {
		text = "all so far"
	}
	if traits.EchoPrompt {
		text += ", after the prompt"
	}
	shown := shown(t, name, a)
	why := "not told"
	switch {
	case shown.length:
		why = "told"
	case !traits.EOFIsFinish && traits.EndMarker == "":
		why = "only that it did"
	case traits.EndMarker != "":
		why = "only that it did, by " + traits.EndMarker
	}
	counts := "estimated"
	if shown.usage {
		counts = "told"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s | %s | %s |\n", name, route(t, a), traits.Framing, takes, text, why, counts, shown.proof)
}

func acceptsRow(_ *testing.T, name string, a adapters.Adapter) string {
	list := slices.Sorted(slices.Values(a.Traits().Accepts))
	return fmt.Sprintf("| `%s` | %s |\n", name, cmp.Or(strings.Join(list, ", "), "nothing of it"))
}

// askedRow is what a backend is asked beside answers.
func askedRow(t *testing.T, name string, a adapters.Adapter) string {
	t.Helper()
	traits, stop := a.Traits(), "by closing"
	if c, ok := a.Decoder(&llm.Request{ID: "ID", Model: "MODEL"}).(adapters.Canceler); ok {
		if call, ok := c.Cancel(); ok {
			stop = call.Method + " " + call.Path
		} else { // it learns from the answer what to call
			stop = "by a call"
		}
	}
	question := func(q adapters.Question) string {
		if q.Path == "" {
			return "-"
		}
		return cmp.Or(q.Method, "GET") + " " + q.Path
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", name, question(traits.Health), question(traits.Models), embedRoute(t, a), stop)
}

// embedRoute is where a request for embeddings goes.
func embedRoute(t *testing.T, a adapters.Adapter) string {
	t.Helper()
	e, ok := a.(adapters.Embedder)
	if !ok {
		return "-"
	}
	call, err := e.EmbedRequest(&llm.EmbedRequest{Model: "MODEL", N: 1, Texts: []string{"Hi"}})
	if err != nil {
		t.Fatal(err)
	}
	return call.Method + " " + strings.ReplaceAll(call.Path, "MODEL", "{model}")
}

// route is where a chat completion goes.
func route(t *testing.T, a adapters.Adapter) string {
	t.Helper()
	call, err := a.Request(&llm.Request{
		Model: "MODEL", Stream: true, N: 1, MaxTokens: 16, Raw: []byte("{}"),
		Messages: []llm.Message{{Role: "user", Content: "Hi"}}, Prompt: llm.Prompt{{Text: "Hi"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	path, _, _ := strings.Cut(call.Path, "?")
	return call.Method + " " + strings.ReplaceAll(path, "MODEL", "{model}")
}

// evidence is what an adapter's contract tests show.
type evidence struct {
	length bool // an answer that ended at the token limit, and said so
	usage  bool // an answer with counts
	proof  string
}

func shown(t *testing.T, name string, a adapters.Adapter) evidence {
	t.Helper()
	dir := folder(t, name, a)
	var e evidence
	goldens, err := filepath.Glob(filepath.Join(dir, "*.events.txt"))
	if err != nil || len(goldens) == 0 {
		t.Fatalf("%s: no goldens in %s (%v)", name, dir, err)
	}
	for _, path := range goldens {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		e.length = e.length || bytes.Contains(text, []byte(" finish length\n"))
		e.usage = e.usage || bytes.Contains(text, []byte("usage prompt="))
	}
	for at := dir; e.proof == ""; at = filepath.Dir(at) {
		readme, err := os.ReadFile(filepath.Join(at, "README.md"))
		switch {
		case strings.Contains(string(readme), "imitation"):
			e.proof = "imitations"
		case err == nil || filepath.Base(at) == "testdata":
			t.Fatalf("%s: %s/README.md does not say that streams are imitations", name, at)
		}
	}
	recorded, err := filepath.Glob(filepath.Join(dir, "real-*.stream"))
	if err != nil {
		t.Fatal(err)
	}
	if len(recorded) > 0 && strings.Contains(dir, name) { // else they are another adapter's in the same package
		e.proof = "real bytes, imitations"
	}
	return e
}

// folder is where the contract tests of the adapter called name are: in a folder
// of that name or, for one of several in a package, with the others.
func folder(t *testing.T, name string, a adapters.Adapter) string {
	t.Helper()
	pkg := "../" + path.Base(reflect.Indirect(reflect.ValueOf(a)).Type().PkgPath())
	for _, pattern := range []string{"../*/testdata/" + name, "../" + name + "/testdata", pkg + "/testdata"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(found, func(dir string) bool { return strings.HasPrefix(dir, "../declared/") })
		if len(found) == 1 {
			return found[0]
		}
	}
	t.Fatalf("no folder testdata/%s or %s/testdata", name, name)
	return ""
}
