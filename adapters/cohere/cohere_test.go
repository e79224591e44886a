package cohere

import (
	"errors"
	"testing"

	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// The API can be made to call some tool, but not a certain one.
func TestRequestRefusesChoice(t *testing.T) {
	body := []byte(`{"tools":[{}],"tool_choice":{"type":"function","function":{"name":"f"}}}`)
	members, err := jsonscan.Members(body, 8)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Adapter{}.Request(&llm.Request{Raw: body, Members: members})
	var e *llm.Error
	if !errors.As(err, &e) || e.Status != 400 || e.Param != "tool_choice" {
		t.Errorf("got %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"type":"tool-call-start","index":1,"delta":{"message":{"tool_calls":{"id":"a","function":{"name":"f","arguments":""}}}}}`),
		[]byte(`{"type":"tool-call-delta","index":1,"delta":{"message":{"tool_calls":{"function":{"arguments":"{"}}}}}`))
	f.Add([]byte(`{"type":"content-delta","delta":{"message":{"content":{"text":"a","thinking":"b"}}}}`), []byte(`{"message":"no"}`))
	f.Add([]byte(`{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"tokens":{"input_tokens":-1.5}}}}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		d := Adapter{}.Decoder(nil)
		calls := 0
		for _, data := range [][]byte{one, two, one} {
			events, _ := d.Decode(nil, frame.Frame{Data: data})
			for _, ev := range events {
				if ev.Tool != nil && ev.Tool.ID != "" {
					calls++
				}
				if ev.Tool != nil && ev.Tool.Index >= calls || ev.Usage.Prompt < 0 {
					t.Errorf("%q, %q: %+v %+v", one, two, ev, ev.Tool)
				}
			}
		}
	})
}
