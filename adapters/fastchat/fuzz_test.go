package fastchat

import (
	"context"
	"testing"

	"dragoman/adapters"
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

// FuzzController feeds the adapter with what is no answer of a controller.
func FuzzController(f *testing.F) {
	f.Add([]byte(`{"address":"http://h:21002","models":["a","b"]}`))
	f.Add([]byte(`{"address":null,"models":[{},"\ud83d",["x"]]}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		ask := func(context.Context, adapters.Call) ([]byte, error) { return answer, nil }
		if address, err := (Adapter{}).Find(t.Context(), ask, "m"); err != nil && address != "" {
			t.Errorf("%q and %v", address, err)
		}
		models, err := Adapter{}.Models(t.Context(), ask)
		if err != nil && models != nil {
			t.Errorf("%q and %v", models, err)
		}
		for _, name := range models {
			if name == "" {
				t.Error("a model without a name")
			}
		}
	})
}
