package prompt

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ardanlabs/jinja"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

// The files that these tests compare with are written by testdata/reference.py.

var referenceTime = time.Date(2026, 3, 5, 7, 8, 9, 123456000, time.UTC)

// evaluate renders any template with any context.
func evaluate(src, context string) (string, error) {
	tm, err := untested(src, Options{})
	if err != nil {
		return "", err
	}
	vars := map[string]jinja.Value{
		"raise_exception": raiseException,
		"strftime_now":    strftimeNow(func() time.Time { return referenceTime }),
	}
	if context != "" {
		v, err := decode([]byte(context), same)
		if err != nil {
			return "", err
		}
		for key, value := range v.AsDict().Data {
			vars[key] = value
		}
	}
	// Little of everything, so that tests are fast, but time: machines may be slow.
	tm.limits = limits{steps: 50_000, depth: 100, bytes: 1 << 20, time: time.Hour}
	tm.guards.install(vars, tm.limits)
	return tm.compiled.RenderValues(vars)
}

func same(s string) string { return s }

// readLines decodes one JSON value of each line of a file.
func readLines(t *testing.T, path string, each func(line []byte)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		each(line)
	}
}

func pair(t *testing.T, line []byte) (source, want string) {
	t.Helper()
	var pair [2]string
	if err := json.Unmarshal(line, &pair); err != nil {
		t.Fatal(err)
	}
	return pair[0], pair[1]
}

func TestWhitespaceIsPythons(t *testing.T) {
	count := 0
	readLines(t, "testdata/whitespace.jsonl", func(line []byte) {
		source, want := pair(t, line)
		count++
		if got, err := evaluate(source, ""); err != nil || got != want {
			t.Errorf("%q\n got %q, %v\nwant %q", source, got, err, want)
		}
	})
	if count < 1000 {
		t.Errorf("only %d cases", count)
	}
}

// TestFeaturesArePythons is BC-093: what templates use, with the same bytes.
func TestFeaturesArePythons(t *testing.T) {
	context := ""
	readLines(t, "testdata/features.jsonl", func(line []byte) {
		if context == "" {
			context = string(line)
			return
		}
		source, want := pair(t, line)
		if got, err := evaluate(source, context); err != nil || got != want {
			t.Errorf("%s\n got %q, %v\nwant %q", source, got, err, want)
		}
	})
}

func TestStrftimeIsPythons(t *testing.T) {
	readLines(t, "testdata/strftime.jsonl", func(line []byte) {
		var c [3]string
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse("2006-01-02T15:04:05.000000", c[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := strftime(at, c[1]); got != c[2] {
			t.Errorf("%s of %s: got %q, want %q", c[1], c[0], got, c[2])
		}
	})
}

type talk struct {
	title    string
	messages []llm.Message
}

func talks(t *testing.T) []talk {
	t.Helper()
	data, err := os.ReadFile("testdata/conversations.json")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var all []talk
	for {
		token, err := decoder.Token()
		if err != nil {
			return all
		}
		title, ok := token.(string)
		if !ok {
			continue
		}
		var messages []struct {
			Role, Content, Name string
			ToolCallID          string `json:"tool_call_id"`
		}
		if err := decoder.Decode(&messages); err != nil {
			t.Fatal(err)
		}
		c := talk{title: title}
		for _, m := range messages {
			c.messages = append(c.messages, llm.Message{Role: m.Role, Content: m.Content, Name: m.Name, ToolCallID: m.ToolCallID})
		}
		all = append(all, c)
	}
}

func TestFamiliesArePythons(t *testing.T) {
	for _, name := range Names() {
		tm, err := NamedWith(name, Options{BOS: "<bos>"})
		if err != nil {
			t.Error(err)
			continue
		}
		golden, err := os.ReadFile("testdata/golden/" + name + ".txt")
		if err != nil {
			t.Error(err)
			continue
		}
		var got strings.Builder
		for _, c := range talks(t) {
			got.WriteString("##### " + c.title + "\n" + outcome(tm.Render(&llm.Request{Messages: c.messages})) + "\n")
		}
		if got.String() != string(golden) {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got.String(), golden)
		}
	}
}

// outcome is a rendering as the golden files have it.
func outcome(r adapters.Rendered, err error) string {
	var e *llm.Error
	if errors.As(err, &e) {
		return "refused: " + strings.TrimPrefix(e.Message, "the model's chat template refuses the messages: ")
	}
	return r.Prompt.Text()
}
