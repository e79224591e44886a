package field

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
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

// A list of prompts is answered like as many requests, with OpenAI's numbers:
// the choices of the first prompt, then those of the second.
func TestSeveralPrompts(t *testing.T) {
	f := func(adapter string, answer func(prompt string) string) {
		t.Helper()
		backend := harness.NewBackend(t, func(r harness.Received) harness.Reply {
			var body struct {
				Prompt string
				N      *int
			}
			if err := json.Unmarshal([]byte(r.Body), &body); err != nil || body.N != nil {
				t.Errorf("the backend got %s", r.Body)
			}
			return harness.Reply{Body: answer("re: " + body.Prompt)}
		})
		base := harness.Gateway(t, harness.Case{Adapter: adapter}.Config(backend.URL))
		for _, how := range harness.Deliveries {
			backend.Deliver(how)
			a := harness.Do(t, http.MethodPost, base+"/v1/completions", `{"model":"m","prompt":["a","b"],"n":2,"echo":true,"stream":true}`)
			texts := map[int]string{}
			for _, frame := range a.Frames(t) {
				if frame == "[DONE]" {
					continue
				}
				var chunk struct {
					Choices []struct {
						Index int
						Text  string
					}
				}
				if err := json.Unmarshal([]byte(frame), &chunk); err != nil || len(chunk.Choices) != 1 {
					t.Fatalf("%v: %s", err, frame)
				}
				texts[chunk.Choices[0].Index] += chunk.Choices[0].Text
			}
			want := map[int]string{0: "are: a", 1: "are: a", 2: "bre: b", 3: "bre: b"}
			if !maps.Equal(texts, want) {
				t.Errorf("%s, %s: got %v", adapter, how, texts)
			}
		}
	}
	f("fastchat", func(text string) string { return fastchat(text, "stop") })
	f("openai", func(text string) string {
		return sse(`{"choices":[{"index":0,"text":`+quote(text)+`,"finish_reason":null}]}`, `{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`, "[DONE]")
	})
}
