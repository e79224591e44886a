package openai

import (
	"errors"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// request parses nothing: it gives body to the adapter as the front end would.
func request(t *testing.T, body string, change func(*llm.Request)) string {
	t.Helper()
	members, err := jsonscan.Members([]byte(body), 128)
	if err != nil {
		t.Fatal(err)
	}
	req := &llm.Request{Model: "up", Raw: []byte(body), Members: members, N: 1}
	if change != nil {
		change(req)
	}
	call, err := Adapter{}.Request(req)
	if err != nil {
		t.Fatal(err)
	}
	return string(call.Body)
}

// BC-087: what the gateway does not know goes out byte for byte.
func TestRequestKeepsSpelling(t *testing.T) {
	unknown := `"tools":[{"x":{"a.b*c":1,"id":{"const":7328334202200869666}}}],"metadata":{"x|y":1e400},"seed":18446744073709551615,"temperature":0.70e0`
	got := request(t, `{"model":"m",`+unknown+`}`, nil)
	if want := `{"model":"up",` + unknown + `,"stream":false}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRequestDecides(t *testing.T) {
	f := func(body string, change func(*llm.Request), want string) {
		t.Helper()
		if got := request(t, body, change); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
	limit := func(n int64) func(*llm.Request) { return func(r *llm.Request) { r.MaxTokens = n } }
	f(`{"model":"m"}`, limit(16), `{"model":"up","max_tokens":16,"stream":false}`)
	f(`{"model":"m","max_tokens":null}`, limit(16), `{"model":"up","max_tokens":16,"stream":false}`)
	f(`{"model":"m","max_tokens":64}`, limit(16), `{"model":"up","max_tokens":16,"stream":false}`)
	f(`{"model":"m","max_tokens":16.0}`, limit(16), `{"model":"up","max_tokens":16.0,"stream":false}`)
	f(`{"max_tokens":1,"max_completion_tokens":8}`, limit(4), `{"max_tokens":1,"max_completion_tokens":4,"stream":false}`)
	f(`{"max_tokens":-1}`, limit(llm.NoLimit), `{"stream":false}`)
	f(`{"stream":"true","stream_options":null}`, func(r *llm.Request) { r.Stream = true },
		`{"stream":true,"stream_options":{"include_usage":true}}`)
	f(`{"stop":[]}`, nil, `{"stream":false}`)
	f(`{"stop":"x"}`, func(r *llm.Request) { r.Stop = []string{"x"} }, `{"stop":"x","stream":false}`)
	f(`{"prompt":["Once"],"echo":true}`, func(r *llm.Request) { r.Kind, r.Prompt = llm.Completion, llm.Prompt{{Text: "Once"}} },
		`{"prompt":"Once","stream":false}`)

	if _, err := (Adapter{}).Request(&llm.Request{Model: "m"}); err == nil {
		t.Error("a request without its text was taken")
	}
}

// The same call in every way that backends have been seen to tell it.
func TestToolCallsAreRepaired(t *testing.T) {
	f := func(want string, deltas ...string) {
		t.Helper()
		d := Adapter{}.Decoder(nil)
		var got strings.Builder
		ids := map[string]bool{}
		for _, delta := range append(deltas, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`) {
			if !strings.HasPrefix(delta, `{"choices"`) {
				delta = `{"choices":[{"delta":{"tool_calls":[` + delta + `]}}]}`
			}
			events, err := d.Decode(nil, frame.Frame{Data: []byte(delta)})
			if err != nil {
				t.Fatal(err)
			}
			for _, ev := range events {
				if c := ev.Tool; c != nil {
					if c.Name != "" {
						got.WriteString(" " + c.Name + ":")
						if ids[c.ID] || c.ID == "" {
							t.Errorf("id %q is not new", c.ID)
						}
						ids[c.ID] = true
					}
					got.Write(c.Arguments)
				}
			}
		}
		if got.String() != want {
			t.Errorf("%s\ngot  %s\nwant %s", strings.Join(deltas, "\n"), got.String(), want)
		}
	}
	f(` f:{"a":1}`,
		`{"index":0,"id":"c","function":{"name":"f","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"a\":1}"}}`)
	f(` f:{"a":1}`, // id first, name later
		`{"index":0,"id":"c"}`, `{"index":0,"function":{"name":"f"}}`, `{"index":0,"function":{"arguments":"{\"a\":1}"}}`)
	f(` f:{} g:{}`, // one id for all
		`{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}`, `{"index":1,"id":"c","function":{"name":"g","arguments":"{}"}}`)
	f(` f:{} g:{}`, // one index and one id for all
		`{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}`, `{"index":0,"id":"c","function":{"name":"g","arguments":"{}"}}`)
	f(` f:{"s":"}"} f:{}`, // neither index nor id; a brace inside a string
		`{"function":{"name":"f","arguments":"{\"s\":\"}"}}`, `{"function":{"name":"f","arguments":"\"}"}}`, `{"function":{"name":"f","arguments":{}}}`)
	f(` f:{"n":9007199254740993}`, `{"index":null,"id":null,"function":{"name":"f","arguments":{"n":9007199254740993}}}`)
	f(` f:{}`, `{"index":0,"id":"c","function":{"name":"f","arguments":null}}`)
	f(` f:{"a":1}`, // arguments first
		`{"index":0,"id":"c","function":{"arguments":"{\"a\""}}`, `{"index":0,"function":{"name":"f","arguments":":1}"}}`)
	f(` f:{}`, `{"choices":[{"delta":{"function_call":{"name":"f","arguments":"{}"}}}]}`)
	f(` f:{}`, `{"choices":[{"delta":{"tool_calls":[],"function_call":{"name":"f"}}}]}`)
	f(``, `{"index":0}`, `{}`, `null`, `5`, `{"choices":[{"delta":{"function_call":{}}}]}`)
}

func TestCallWithoutNameIsToldAtTheEnd(t *testing.T) {
	d := Adapter{}.Decoder(nil)
	var calls []llm.ToolDelta
	for _, data := range []string{
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"stop"}]}`,
	} {
		events, err := d.Decode(nil, frame.Frame{Data: []byte(data)})
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range events {
			if ev.Tool != nil {
				calls = append(calls, *ev.Tool)
			}
		}
	}
	if len(calls) != 1 || calls[0].ID == "" || string(calls[0].Arguments) != `{"a":1}` {
		t.Errorf("got %+v", calls)
	}
}

func TestToolCallsAreBounded(t *testing.T) {
	f := func(data string) {
		t.Helper()
		d := Adapter{}.Decoder(nil)
		var err error
		for range adapters.MaxCalls + 1 {
			if _, err = d.Decode(nil, frame.Frame{Data: []byte(data)}); err != nil {
				break
			}
		}
		if e := (*llm.Error)(nil); !errors.As(err, &e) || e.Status != 502 {
			t.Errorf("%.60s: got %v", data, err)
		}
	}
	f(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}`)
	f(`{"choices":[{"message":{"tool_calls":[` + strings.Repeat(`{"function":{"name":"f"}},`, 100<<10) + `{}]}}]}`)
	f(`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + strings.Repeat("x", maxHeld/100) + `"}}]}}]}`)
}

// The older form of tools is refused, until it is passed on as it should be.
func TestAccepts(t *testing.T) {
	for _, field := range []string{"functions", "function_call"} {
		if traits.CanDo(field) {
			t.Errorf("%s is passed on", field)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"choices":[{"index":0,"delta":{"content":"x","tool_calls":[{"index":0,"function":{"name":"f","arguments":{}}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`))
	f.Add([]byte(`{"choices":[{"message":{"content":[{"text":"a"},{"thinking":[{"text":"b"}]}]}},null,5]}`))
	f.Add([]byte(`{"error":{"code":503}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Adapter{}.Decoder(nil)
		for range 2 {
			events, _ := d.Decode(nil, frame.Frame{Data: data})
			for _, ev := range events {
				if ev.Choice < 0 {
					t.Errorf("choice %d", ev.Choice)
				}
			}
		}
	})
}
