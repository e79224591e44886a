package native

import (
	"testing"

	"dragoman/adapters/frame"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":1,"text":" dog"}`), []byte(`{"id":300,"bytes":"w6k="}`))
	f.Add([]byte(`{"bytes":"x"}`), []byte(`{"done":"stop","prompt_tokens":1,"error":null}`))
	f.Add([]byte(`{"text":"a","logprob":-1,"top":[{"text":"b","logprob":"x"},5,{"bytes":"!"}]}`), []byte(`{"logprob":-1e999,"top":{"text":"a"}}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		d := Adapter{}.Decoder(nil)
		for _, data := range [][]byte{one, two} {
			if events, err := d.Decode(nil, frame.Frame{Data: data}); err == nil && len(events) != 1 {
				t.Errorf("%q: %v", data, events)
			}
		}
	})
}
