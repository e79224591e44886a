package fastchat

import (
	"testing"

	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"text":"a","error_code":0,"usage":{"prompt_tokens":1},"finish_reason":null}`), []byte(`{"text":"ab","finish_reason":"stop"}`))
	f.Add([]byte(`{"text":null,"error_code":"x"}`), []byte(`{"text":"\ud83d","error_code":50001}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		d := Adapter{}.Decoder(&llm.Request{MaxTokens: 3})
		for _, data := range [][]byte{one, two} {
			if events, err := d.Decode(nil, frame.Frame{Data: data}); err == nil && len(events) != 1 {
				t.Errorf("%q: %v", data, events)
			}
		}
	})
}
