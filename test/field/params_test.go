package field

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// record starts a gateway before a backend that answers ok, and returns a
// function that sends a request and gives the answer and what the backend got.
func record(t *testing.T, adapter, script string) func(extra string) (harness.Answer, map[string]any) {
	t.Helper()
	backend := harness.Script(t, script)
	base := harness.Gateway(t, harness.Case{Adapter: adapter}.Config(backend.URL))
	return func(extra string) (harness.Answer, map[string]any) {
		t.Helper()
		answer := harness.Chat(t, base, extra)
		if answer.Status != 200 {
			return answer, nil
		}
		var body map[string]any
		decoder := json.NewDecoder(strings.NewReader(backend.Request().Body))
		decoder.UseNumber()
		if err := decoder.Decode(&body); err != nil {
			t.Fatal(err)
		}
		return answer, body
	}
}

// BC-060: max_tokens 0, -1 and huge values fell to defaults or overflowed.
func TestBC060MaxTokens(t *testing.T) {
	f := func(adapter, script, field string) {
		t.Helper()
		ask := record(t, adapter, script)
		for _, bad := range []string{"0", "2.5", `"16"`, "-2", "true", "[]"} {
			for _, name := range []string{"max_tokens", "max_completion_tokens"} {
				answer, _ := ask(fmt.Sprintf("%q:%s", name, bad))
				if answer.Status != 400 || *answer.Error(t).Param != name {
					t.Errorf("%s %s: %d %s", name, bad, answer.Status, answer.Body)
				}
			}
		}
		want := func(sent, got string) {
			t.Helper()
			if _, body := ask(sent); fmt.Sprint(body[field]) != got {
				t.Errorf("%s %s: the backend got %v, want %s", adapter, sent, body[field], got)
			}
		}
		want(`"max_tokens":16`, "16")
		want(`"max_tokens":256.0`, "256")
		want(`"max_tokens":16,"max_completion_tokens":32`, "32")
		want(`"max_tokens":1000000000000`, "1000000000000")
	}
	f("fastchat", fastchat("ok", "stop"), "max_new_tokens")
	f("native", native("ok")+nativeEnd("stop"), "max_tokens")
	_, absent := record(t, "native", native("ok")+nativeEnd("stop"))(`"max_tokens":null`)
	_, unbounded := record(t, "native", native("ok")+nativeEnd("stop"))(`"max_tokens":-1`)
	if absent["max_tokens"] != nil || unbounded["max_tokens"] != nil {
		t.Errorf("no limit: the engine got %v and %v", absent["max_tokens"], unbounded["max_tokens"])
	}
}

// BC-062: explicit zeros were dropped, or top_k 0 meant no candidates.
func TestBC062Zeros(t *testing.T) {
	f := func(adapter, script, extra string, want map[string]string) {
		t.Helper()
		answer, body := record(t, adapter, script)(extra)
		if answer.Status != 200 {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		for field, value := range want {
			got := "absent"
			if v, ok := body[field]; ok {
				got = fmt.Sprint(v)
			}
			if got != value {
				t.Errorf("%s got %s %s, want %s", adapter, field, got, value)
			}
		}
	}
	zeros := `"temperature":0,"top_p":0,"seed":0,"presence_penalty":0,"top_k":0`
	f("fastchat", fastchat("ok", "stop"), zeros, map[string]string{"temperature": "0", "top_p": "0", "presence_penalty": "0", "top_k": "0"})
	f("native", native("ok")+nativeEnd("stop"), zeros, map[string]string{"temperature": "0", "top_p": "0", "seed": "0", "top_k": "0"})
	f("fastchat", fastchat("ok", "stop"), `"temperature":null`, map[string]string{"temperature": "absent", "top_p": "absent", "top_k": "absent", "presence_penalty": "absent"})
	f("native", native("ok")+nativeEnd("stop"), `"temperature":0.70`, map[string]string{"temperature": "0.70", "top_p": "absent", "seed": "absent", "top_k": "absent"})
}

// BC-063: of content given as parts only the last was used.
func TestBC063ContentParts(t *testing.T) {
	for adapter, script := range map[string]string{"fastchat": fastchat("ok", "stop"), "native": native("ok") + nativeEnd("stop"), "openai": openai("stop", "ok"), "torchchat": torchchat("ok")} {
		backend := harness.Script(t, script)
		base := harness.Gateway(t, harness.Case{Adapter: adapter}.Config(backend.URL))
		harness.Do(t, "POST", base+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[
			{"role":"user","content":[{"type":"text","text":"AAA"},{"type":"text","text":"BBB"}]},
			{"role":"assistant","content":[{"type":"text","text":"CCC"}]},{"role":"user","content":"DDD"}]}`)
		got, at := backend.Request().Body, 0
		for _, part := range []string{"AAA", "BBB", "CCC", "DDD"} {
			i := strings.Index(got, part)
			if strings.Count(got, part) != 1 || i < at {
				t.Errorf("%s got %s", adapter, got)
			}
			at = i
		}
		image := harness.Do(t, "POST", base+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"A"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`)
		if adapter != "openai" && (image.Status != 400 || !strings.HasPrefix(*image.Error(t).Param, "messages[0].content[1]")) {
			t.Errorf("%s: an image is answered with %d %s", adapter, image.Status, image.Body)
		}
	}
}

// BC-065: a prompt that is too long gave an empty 200, or 500.
func TestBC065ContextOverflow(t *testing.T) {
	f := func(adapter, body string) {
		t.Helper()
		backend := harness.NewBackend(t, func(harness.Received) harness.Reply {
			return harness.Reply{Status: 400, Body: body, Unframed: true}
		})
		base := harness.Gateway(t, harness.Case{Adapter: adapter}.Config(backend.URL))
		for _, ask := range []string{"", `"stream":true`} {
			answer := harness.Chat(t, base, ask)
			answer.Want(t, 400, "context_length_exceeded", "messages")
			if !strings.Contains(string(answer.Body), "maximum context length is 4 tokens") {
				t.Errorf("%s: %s", adapter, answer.Body)
			}
		}
	}
	f("native", `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 4 tokens. However, your prompt has 9 tokens.","n_ctx":4,"prompt_tokens":9}}`)
	f("openai", `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}`)
	harness.Play(t, harness.Case{
		Adapter: "native", Script: native("ok") + `{"done":"length","reason":"context","prompt_tokens":7,"completion_tokens":1,"timings":{}}⏎`,
		Shape: "R C F=length D", Text: "ok",
	})
}
