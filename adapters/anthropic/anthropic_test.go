package anthropic

import (
	"errors"
	"testing"

	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

func TestRequestHeader(t *testing.T) {
	call, err := Adapter{}.Request(&llm.Request{Model: "m", Messages: []llm.Message{{Role: "user", Content: "Hi"}}})
	if err != nil || call.Header.Get("Anthropic-Version") != "2023-06-01" {
		t.Errorf("got %v, %v", call.Header, err)
	}
}

// What the API cannot do is refused rather than left out.
func TestRequestRefuses(t *testing.T) {
	f := func(req llm.Request, param string) {
		t.Helper()
		_, err := Adapter{}.Request(&req)
		var e *llm.Error
		if !errors.As(err, &e) || e.Status != 400 || e.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	raw := []byte(`{"response_format":{"type":"json_object"}}`)
	f(llm.Request{Raw: raw, Members: []llm.Member{{Name: "response_format", Start: 19, End: len(raw) - 1}}}, "response_format")
	f(llm.Request{Messages: []llm.Message{{Role: "assistant", ToolCalls: []llm.ToolCall{{Name: "f", Arguments: "[1]"}}}}},
		"messages[0].tool_calls[0].function.arguments")
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"message_start","message":{"usage":{"input_tokens":9}}}`), []byte(`{"type":"message_stop"}`))
	f.Add([]byte(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`),
		[]byte(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{"}}`))
	f.Add([]byte(`{"type":"content_block_stop","index":-1}`), []byte(`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1e99}}`))
	f.Add([]byte(`{"type":"error"}`), []byte(`{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		d := Adapter{}.Decoder(nil)
		calls := 0
		for _, data := range [][]byte{one, two, one} {
			events, _ := d.Decode(nil, frame.Frame{Data: data})
			for _, ev := range events {
				if ev.Tool != nil && ev.Tool.ID != "" {
					calls++
				}
				if ev.Tool != nil && ev.Tool.Index >= calls || ev.Usage.Prompt < 0 || ev.Usage.Completion < 0 {
					t.Errorf("%q, %q: %+v %+v", one, two, ev, ev.Tool)
				}
			}
		}
	})
}
