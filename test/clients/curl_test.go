//go:build clients

package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestTorchchatCurl runs the two calls of the torchchat thread as they stand
// there (its missing brace and quote completed) against the bundled engine.
func TestTorchchatCurl(t *testing.T) {
	config, err := os.ReadFile("../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	start(t, string(config))

	streamed := shell(t, "curl/chunked.sh")
	text := ""
	for _, frame := range strings.Split(strings.TrimSpace(streamed), "\n\n") {
		payload, ok := strings.CutPrefix(frame, "data: ")
		if !ok {
			t.Fatalf("no frame: %q", frame)
		}
		if payload == "[DONE]" {
			break
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(payload), &chunk); err != nil {
			t.Fatal(err)
		}
		text += chunk.Choices[0].Delta.Content
	}
	if !strings.HasSuffix(streamed, "data: [DONE]\n\n") || !strings.Contains(text, "dog") {
		t.Errorf("streamed: %s", streamed)
	}

	var answer struct {
		Object  string
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if out := shell(t, "curl/synchronous.sh"); json.Unmarshal([]byte(out), &answer) != nil ||
		answer.Object != "chat.completion" || !strings.Contains(answer.Choices[0].Message.Content, "dog") {
		t.Errorf("synchronous: %s", out)
	}
}

func shell(t *testing.T, script string) string {
	t.Helper()
	out, err := exec.Command("sh", script).Output()
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return string(out)
}
