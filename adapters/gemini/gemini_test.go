package gemini

import (
	"errors"
	"testing"

	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

// The API fetches no pictures: one at an address is refused rather than lost.
func TestRequestRefusesAddresses(t *testing.T) {
	m := llm.Message{Role: "user", Raw: []byte(`{"content":[{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]}`)}
	_, err := Adapter{}.Request(&llm.Request{Messages: []llm.Message{m}})
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != 400 || e.Param != "messages[0].content" {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"candidates":[{"content":{"parts":[{"text":"a"},{"functionCall":{"name":"f","args":{"x":2}}}]},"finishReason":"STOP","index":1}]}`))
	f.Add([]byte(`{"candidates":[{"index":-1,"content":{"parts":[{"thought":true,"text":"b"}]}}],"usageMetadata":{"promptTokenCount":-5}}`))
	f.Add([]byte(`{"promptFeedback":{"blockReason":"SAFETY"}}`))
	f.Add([]byte(`[{"error":{"code":503}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Adapter{}.Decoder(&llm.Request{N: 2})
		for range 2 {
			events, _ := d.Decode(nil, frame.Frame{Data: data})
			for _, ev := range events {
				if ev.Choice < 0 || ev.Choice > 1 || ev.Usage.Prompt < 0 || ev.Tool != nil && ev.Tool.ID == "" {
					t.Errorf("%q: %+v", data, ev)
				}
			}
		}
	})
}
