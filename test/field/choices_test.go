package field

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// BC-058: n was dropped, and the client got one choice of two. A backend that
// gives one at a time is asked for each; with one slot, one after the other.
func TestBC058ChoicesOneByOne(t *testing.T) {
	f := func(adapter, script string, estimated bool) {
		t.Helper()
		harness.Play(t, harness.Case{
			Adapter: adapter, Options: "max_concurrent: 1", Script: script,
			Ask:   `"n":3,"stream_options":{"include_usage":true}`,
			Shape: "R C F=stop R C F=stop R C F=stop U D", Text: "To be",
			Check: func(t *testing.T, s *harness.Stream) {
				t.Helper()
				if len(s.Text) != 3 || s.Text[1] != "To be" || s.Text[2] != "To be" {
					t.Errorf("%s: got %v", adapter, s.Text)
				}
				var u struct {
					Prompt     int `json:"prompt_tokens"`
					Completion int `json:"completion_tokens"`
					Estimated  bool
				}
				if err := json.Unmarshal([]byte(s.Usage), &u); err != nil || u.Estimated != estimated || !estimated && (u.Prompt != 7 || u.Completion%3 != 0 || u.Completion < 6) {
					t.Errorf("%s: usage %s", adapter, s.Usage)
				}
			},
		})
	}
	f("fastchat", fastchat("To", "")+fastchat("To be", "stop"), false)
	f("llamacpp", llamacpp("eos", "To", " be"), false)
	f("kobold", kobold("stop", "To", " be"), true)
}

// Choices that come side by side interleave, and are whole each.
func TestBC058ChoicesSideBySide(t *testing.T) {
	backend := harness.Script(t, ollama("To", " be", " or", " not")+ollamaEnd("stop"))
	base := harness.Gateway(t, harness.Case{Adapter: "ollama"}.Config(backend.URL))
	for _, how := range harness.Deliveries {
		backend.Deliver(how)
		s := harness.Chat(t, base, `"n":12,"stream":true`).Check(t, false)
		if len(s.Text) != 12 || len(s.Finish) != 12 {
			t.Errorf("%s: %d choices, %d ends", how, len(s.Text), len(s.Finish))
		}
		for i, text := range s.Text {
			if text != "To be or not" || s.Finish[i] != "stop" {
				t.Errorf("%s: choice %d is %q", how, i, text)
			}
		}
	}
	backend.Deliver(harness.AsWritten)
	var whole struct {
		Choices []struct {
			Index   int
			Message struct{ Content string }
		}
	}
	answer := harness.Chat(t, base, `"n":3`)
	if err := json.Unmarshal(answer.Body, &whole); err != nil || len(whole.Choices) != 3 {
		t.Fatalf("%v: %s", err, answer.Body)
	}
	for i, c := range whole.Choices {
		if c.Index != i || c.Message.Content != "To be or not" {
			t.Errorf("choice %d: %+v", i, c)
		}
	}
}

// One choice that fails after others have begun fails them all.
func TestBC058OneChoiceFails(t *testing.T) {
	n := 0
	backend := harness.NewBackend(t, func(harness.Received) harness.Reply {
		if n++; n%2 == 0 {
			return harness.Reply{Body: `{"text":"worker busy","error_code":50001}␀`}
		}
		return harness.Reply{Body: fastchat("To be", "stop")}
	})
	base := harness.Gateway(t, harness.Case{Adapter: "fastchat", Options: "max_concurrent: 1"}.Config(backend.URL))
	harness.Chat(t, base, `"n":2,"stream":true`).Check(t, false).Want(t, "R C F=stop E D", "To be")
	harness.Chat(t, base, `"n":2`).Want(t, 502, "upstream_error", "")
}

// Each choice has a seed of its own.
func TestChoicesHaveSeeds(t *testing.T) {
	backend := harness.Script(t, kobold("stop", "x"))
	base := harness.Gateway(t, harness.Case{Adapter: "kobold", Options: "max_concurrent: 1"}.Config(backend.URL))
	if a := harness.Chat(t, base, `"n":3,"seed":41`); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for i := range 3 {
		if r := backend.Request(); !strings.Contains(r.Body, fmt.Sprintf(`"sampler_seed":%d`, 41+i)) || strings.Contains(r.Body, `"n"`) {
			t.Errorf("call %d: %s", i, r.Body)
		}
	}
}
