package field

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// BC-049: calls that come whole lost their order, and large numbers their digits.
func TestBC049OllamaWholeCalls(t *testing.T) {
	call := func(args string) string { return `{"function":{"name":"w","arguments":` + args + `}}` }
	line := func(calls ...string) string {
		return `{"message":{"tool_calls":[` + strings.Join(calls, ",") + `]},"done":false}⏎¦`
	}
	a, b := call(`{"p":"a"}`), call(`{"p":"b","n":9007199254740993}`)
	for _, lines := range []string{line(a, b), line(a) + line(b)} {
		harness.Play(t, harness.Case{
			Adapter: "ollama", Ask: offer("w"), Script: lines + `{"message":{},"done":true,"done_reason":"stop"}⏎`,
			Shape: "R T T F=tool_calls D", Check: calls(`w {"p":"a"}`, `w {"p":"b","n":9007199254740993}`),
		})
	}
}

// BC-051: a call without arguments had arguments that are no JSON.
func TestBC051AnthropicNoArguments(t *testing.T) {
	harness.Play(t, harness.Case{
		Adapter: "anthropic", Ask: offer("now"), Shape: "R T F=tool_calls D", Check: calls("now {}"),
		Script: sse(
			`{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"tu_1","name":"now","input":{}}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":2}}`,
			`{"type":"message_stop"}`),
	})
}

// BC-041, BC-060, BC-062: what a client sets, or leaves out, reaches Ollama so.
func TestBC062OllamaOptions(t *testing.T) {
	ask := record(t, "ollama", ollama("ok")+ollamaEnd("stop"))
	f := func(extra, want string) {
		t.Helper()
		answer, body := ask(extra)
		if got := fmt.Sprint(body["options"]); answer.Status != 200 || got != want {
			t.Errorf("%s: %d, options %s, want %s", extra, answer.Status, got, want)
		}
	}
	f(`"temperature":0,"top_p":0,"seed":0`, "map[seed:0 temperature:0 top_p:0]")
	f(`"temperature":null`, "<nil>")
	f(`"stop":[]`, "<nil>")
	f(`"stop":null`, "<nil>")
	f(`"stop":"x"`, "map[stop:[x]]")
	f(`"max_tokens":-1`, "map[num_predict:-1]")
	f(`"max_tokens":null`, "<nil>")
	f(`"max_tokens":1000000000000`, "map[num_predict:1000000000000]")
	if answer, _ := ask(`"max_tokens":0`); answer.Status != 400 {
		t.Errorf("max_tokens 0: %d", answer.Status)
	}
}

// BC-063: parts of a message, and an assistant's null content, were lost.
func TestBC063VendorMessages(t *testing.T) {
	const ask = `{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],"messages":[{"role":"user","content":[{"type":"text","text":"AAA"},{"type":"text","text":"BBB"}]},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"TTT"},{"role":"user","content":"DDD"}]}`
	f := func(adapter, script string) {
		t.Helper()
		backend := harness.Script(t, script)
		base := harness.Gateway(t, harness.Case{Adapter: adapter}.Config(backend.URL))
		if answer := harness.Do(t, http.MethodPost, base+"/v1/chat/completions", ask); answer.Status != 200 {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		body := backend.Request().Body
		for _, words := range []string{"AAA", "BBB", "TTT", "DDD", `{"x":1}`} {
			if !strings.Contains(body, words) {
				t.Errorf("%s got no %s: %s", adapter, words, body)
			}
		}
	}
	f("ollama", ollama("ok")+ollamaEnd("stop"))
	f("anthropic", anthropic("end_turn", "ok"))
	f("gemini", gemini("STOP", "ok"))
}

// BC-084: a key came out in texts of errors, in headers and in the log.
func TestBC084VendorKeys(t *testing.T) {
	f := func(adapter, header string) {
		t.Helper()
		for status, body := range map[int]string{
			404: `{"error":{"code":404,"message":"no model for key KEY123","status":"NOT_FOUND"}}`,
			500: "trace: url=/v1beta/models/m?key=KEY123",
			401: `{"error":{"message":"KEY123 is no key"}}`,
			200: `data: {"type":"error","error":{"code":500,"message":"key KEY123 is over quota"}}⏎⏎`,
		} {
			backend := harness.NewBackend(t, func(harness.Received) harness.Reply {
				return harness.Reply{Status: status, Body: body, Header: map[string]string{header: "KEY123"}}
			})
			base, log := harness.GatewayWithLog(t, harness.Case{Adapter: adapter, Options: "key: KEY123"}.Config(backend.URL))
			for _, ask := range []string{"", `"stream":true`} {
				answer := harness.Chat(t, base, ask)
				answer.Error(t)
				got := backend.Request()
				if got.Header.Get(header) != "KEY123" || got.Header.Get("Authorization") != "" || strings.Contains(got.Path, "KEY123") {
					t.Errorf("%s got %s %v", adapter, got.Path, got.Header)
				}
				if said := fmt.Sprint(string(answer.Body), answer.Header); strings.Contains(said, "KEY123") {
					t.Errorf("%s %d: %s", adapter, status, said)
				}
				log.Wait(t, "status=")
			}
			if strings.Contains(log.All(), "KEY123") {
				t.Errorf("%s %d: the log holds the key: %s", adapter, status, log.All())
			}
		}
	}
	f("gemini", "X-Goog-Api-Key")
	f("anthropic", "X-Api-Key")
	f("azure", "Api-Key")
}

// Vendors differ in where a model's name and a version stand in the address.
func TestVendorAddresses(t *testing.T) {
	f := func(adapter, base, script, want string) {
		t.Helper()
		backend := harness.Script(t, script)
		gateway := harness.Gateway(t, harness.Case{Adapter: adapter, Options: "model: up"}.Config(backend.URL+base))
		harness.Chat(t, gateway, `"stream":true`).Check(t, false).Want(t, "R C F=stop D", "Hi")
		if got := backend.Request().Path; got != want {
			t.Errorf("%s at %s: asked %s, want %s", adapter, base, got, want)
		}
	}
	f("azure", "?api-version=2024-10-21", openai("stop", "Hi"), "/openai/deployments/up/chat/completions?api-version=2024-10-21")
	f("openai", "/openai/v1", openai("stop", "Hi"), "/openai/v1/chat/completions")
	f("mistral", "/v1", openai("stop", "Hi"), "/v1/chat/completions")
	f("gemini", "", gemini("STOP", "Hi"), "/v1beta/models/up:streamGenerateContent?alt=sse")
	f("gemini", "/v1/projects/p/locations/l/publishers/google", gemini("STOP", "Hi"),
		"/v1/projects/p/locations/l/publishers/google/models/up:streamGenerateContent?alt=sse")
	f("anthropic", "/v1", anthropic("end_turn", "Hi"), "/v1/messages")
}
