package ollama

import (
	"testing"

	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"message":{"content":"x","thinking":"y","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]},"done":false}`))
	f.Add([]byte(`{"message":{"tool_calls":[{"id":"c","function":{"arguments":""}},null,5]},"done":true,"done_reason":"zzz"}`))
	f.Add([]byte(`{"response":"x","thinking":"y","done":true,"eval_count":2}`))
	f.Add([]byte(`{"error":"boom"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Adapter{}.Decoder(nil)
		for range 2 {
			events, _ := d.Decode(nil, frame.Frame{Data: data})
			for _, ev := range events {
				if ev.Tool != nil && ev.Tool.ID == "" {
					t.Errorf("a call without an id: %+v", ev.Tool)
				}
			}
		}
		if len(data) > 0 && jsonscan.Valid(data, 128) != nil {
			if _, err := d.Decode(nil, frame.Frame{Data: data}); err == nil {
				t.Errorf("%q was understood", data)
			}
		}
	})
}
