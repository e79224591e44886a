package declared

import (
	"testing"

	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

func TestShapes(t *testing.T) {
	f := func(shape string, set func(*llm.Request), want string) {
		t.Helper()
		spec, errs := parse(t, "framing: raw\neof_is_finish: true\nread: {text: .}\nsend: {map: {prompt: p, "+shape+"}}")
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		req := &llm.Request{Prompt: llm.Prompt{{Text: "x"}}}
		set(req)
		call, err := New(spec).Request(req)
		if err != nil || string(call.Body) != `{"p":"x"`+want+`}` {
			t.Errorf("%s: got %s, %v", shape, call.Body, err)
		}
	}
	nothing := func(*llm.Request) {}
	temperature := func(s string) func(*llm.Request) {
		return func(r *llm.Request) { r.Params[llm.Temperature] = s }
	}
	f("temperature: t", temperature("0"), `,"t":0`) // an explicit zero is not absent
	f("temperature: t", temperature("0.50"), `,"t":0.50`)
	f("temperature: t", nothing, ``)
	f("temperature: {to: t, default: 0.7}", nothing, `,"t":0.7`)
	f("temperature: {to: t, default: null}", nothing, ``)
	f("temperature: {to: t, default: ''}", nothing, `,"t":""`)
	f("temperature: {to: t, min: 0.1, max: 1}", temperature("0"), `,"t":0.1`)
	f("temperature: {to: t, min: 0.1, max: 1}", temperature("2"), `,"t":1`)
	f("temperature: {to: t, min: 0.1, max: 1}", temperature("1.0"), `,"t":1.0`)
	f("temperature: {to: t, omit_below: 0.1, default: 9}", temperature("0"), ``)
	f("temperature: {to: t, omit_from: 1}", temperature("1"), ``)
	f("temperature: {to: t, omit_from: 1}", temperature("0.99"), `,"t":0.99`)
	f("temperature: {to: t, list: true}", temperature("1"), `,"t":[1]`)
	f("temperature: {to: t, json_string: true}", temperature("1"), `,"t":"1"`)
	f("temperature: {to: t.u, json_string: true}", nothing, ``)
	f("temperature: a.b.c, max_tokens: a.n", func(r *llm.Request) { r.MaxTokens = 5 }, `,"a":{"n":5}`)
	stop := func(r *llm.Request) { r.Stop = []string{"a", "b,", "c"} }
	f("stop: {to: s, max: 2}", stop, `,"s":["a","b,"]`)
	f("stop: {to: s, max: 3}", stop, `,"s":["a","b,","c"]`)
	f("stop: {to: s, max: 3}", nothing, ``)
	f("stop_token_ids: {to: s, max: 1}", func(r *llm.Request) { r.Params[llm.StopTokenIDs] = "[5, 6]" }, `,"s":[5]`)
	f("do_sample: d", nothing, `,"d":true`)
	f("do_sample: d", temperature("0.0"), `,"d":false`)
	f("do_sample: d", temperature("0.1"), `,"d":true`)
	f("max_tokens: n", func(r *llm.Request) { r.MaxTokens = llm.NoLimit }, ``)
	f("logit_bias: l", func(r *llm.Request) { r.Params[llm.LogitBias] = `{"5":1}` }, `,"l":{"5":1}`)
}

// An answer in events is asked for, where the server could also give it whole.
func TestAccept(t *testing.T) {
	f := func(facts string, stream bool, want string) {
		t.Helper()
		spec, errs := parse(t, facts+"\neof_is_finish: true\nread: {text: .}\nsend: {map: {prompt: p}}")
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		call, err := New(spec).Request(&llm.Request{Stream: stream})
		if got := call.Header.Get("Accept"); err != nil || got != want {
			t.Errorf("%s, stream %v: got %q, %v", facts, stream, got, err)
		}
	}
	f("framing: sse", true, "text/event-stream")
	f("framing: sse", false, "text/event-stream")
	f("framing: sse\nunary: true", true, "text/event-stream")
	f("framing: sse\nunary: true", false, "")
	f("framing: ndjson", true, "")
}

func FuzzDecode(f *testing.F) {
	spec, errs := parse(f, "framing: sse\ncumulative: true\nsend: {map: {prompt: p}}\n"+
		"read: {text: [a.0.t, b], reasoning: r, finish: f, done: {path: d, not: [null, 0]}, skip: {path: s, is: [true]}, error: [e, {path: f, is: [x]}], error_message: [e.m, e], error_code: e.c, prompt_tokens: u, frame_tokens: n}")
	if len(errs) > 0 {
		f.Fatal(errs)
	}
	f.Add([]byte(`{"a":[{"t":"x"}],"f":"stop","d":1,"u":3}`), []byte(`{"e":{"c":400,"message":"m"}}`))
	f.Add([]byte(`{"a":{"0":{"t":"\ud83d"}}}`), []byte(`{"a":{"0":{"t":"\ud83d\ude00"}},"s":true}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		d := New(spec).Decoder(nil)
		for _, data := range [][]byte{one, two} {
			events, err := d.Decode(nil, frame.Frame{Data: data})
			if err == nil && (len(events) != 1 || jsonscan.Valid(data, 128) != nil) {
				t.Errorf("%q: %v", data, events)
			}
		}
	})
}
