//go:build real

package real

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// conversations are what FastChat makes of some under one of its templates.
type conversations struct {
	Name  string
	Cases []struct {
		Messages json.RawMessage
		Prompt   string
	}
}

// TestFastChatTemplates asks a multi-model worker for every conversation
// template of FastChat, and compares the prompts that arrive there with those
// that FastChat's own code makes.
func TestFastChatTemplates(t *testing.T) {
	out, err := exec.Command(inBin(t, "fastchat/venv/bin/python"), "-W", "ignore", "prompts.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []conversations
	var args []string
	for line := range strings.Lines(string(out)) {
		var c conversations
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		// Those of no cases are templates that FastChat itself cannot render.
		if all = append(all, c); len(c.Cases) > 0 {
			args = append(args, "--model-path", inBin(t, "reciter"), "--model-names", c.Name, "--conv-template", c.Name)
		}
	}
	url, _ := worker(t, "multi_model_worker", controller(t), args...)
	f := fastchat(t, url)
	compared := 0
	for _, c := range all {
		for _, test := range c.Cases {
			a := harness.Do(t, http.MethodPost, f.base+"/v1/chat/completions",
				fmt.Sprintf(`{"model": %q, "max_tokens": 1, "messages": %s}`, c.Name, test.Messages))
			if a.Status != http.StatusOK {
				t.Errorf("%s: %s", c.Name, a.Body)
				break
			}
			compared++
			comparePrompts(t, f, &c, string(test.Messages), test.Prompt)
		}
	}
	if compared < 100 {
		t.Errorf("only %d prompts compared", compared)
	}
}

// comparePrompts compares what arrived with what FastChat would send, which
// forgets a system message that the template has no place for.
func comparePrompts(t *testing.T, f *front, c *conversations, messages, want string) {
	t.Helper()
	var sent struct{ Prompt string }
	if err := json.Unmarshal([]byte(f.tap.sent(f.path)), &sent); err != nil {
		t.Fatalf("%s: %v in %s", c.Name, err, f.tap.sent(f.path))
	}
	const system = "Be {brief}."
	if strings.Contains(messages, system) && !strings.Contains(want, system) {
		if !strings.Contains(sent.Prompt, system) {
			t.Errorf("%s: the system message is lost: %q", c.Name, sent.Prompt)
		}
		return
	}
	if sent.Prompt != want {
		t.Errorf("%s: %s:\ngot  %q\nwant %q", c.Name, messages, sent.Prompt, want)
	}
}
