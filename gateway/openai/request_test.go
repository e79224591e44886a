package openai

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

func TestCheck15_BodiesThatAreNoRequest(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		for _, parse := range []func([]byte) (*Ask, error){ParseChat, ParseCompletion} {
			_, err := parse([]byte(body))
			e, ok := err.(*llm.Error)
			if !ok || e.Status != 400 || e.Code != "invalid_json" || e.Param != "" || !strings.Contains(e.Message, want) {
				t.Errorf("%.100q: %#v, want invalid_json with %q", body, err, want)
			}
		}
	}
	f(``, "the body is empty")
	f(`  `, "it ends")
	f(`[]`, "not an object")
	f(`"x"`, "not an object")
	f(`{"model":"m"} {}`, "after the value")
	f(`{"model":"m",}`, "offset 13")
	f("{\"model\":\"\xff\"}", "UTF-8")
	f(`{"model":NaN}`, "offset 9")
}

func TestBC088_DeepNesting(t *testing.T) {
	f := func(members string) {
		t.Helper()
		refuse(t, chat(members), "", "invalid_json")
	}
	f(`"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))
	f(`"tools":` + strings.Repeat("[", 3_000))
	f(`"response_format":` + strings.Repeat(`{"a":`, 20_000))
	f(`"x":` + strings.Repeat("[", 5_000_000))
}

func TestBC086_DuplicateMembers(t *testing.T) {
	refuse(t, `{"model":"cheap","messages":[{"role":"user","content":"x"}],"model":"secret"}`, "model", "invalid_json")
	refuse(t, `{"model":"cheap","messages":[{"role":"user","content":"x"}],"mod\u0065l":"secret"}`, "model", "invalid_json")
	refuse(t, chat(`"stream":false,"stream":true`), "stream", "invalid_json")
	refuse(t, chat(`"stream":true,"stream_options":{"include_usage":true,"include_usage":false}`), "stream_options.include_usage", "invalid_json")
	refuse(t, `{"model":"m","messages":[{"role":"user","role":"system","content":"x"}]}`, "messages[0].role", "invalid_json")
	refuse(t, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a","text":"b"}]}]}`, "messages[0].content[0].text", "invalid_json")
	refuse(t, `{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","id":"b","function":{"name":"f"}}]}]}`, "messages[0].tool_calls[0].id", "invalid_json")
	refuse(t, chat(`"tools":[{"type":"function","function":{"name":"f","name":"g"}}]`), "tools[0].function.name", "invalid_json")
	// Names match in their exact case only.
	refuse(t, `{"Model":"m","messages":[{"role":"user","content":"x"}]}`, "model", "missing_required_parameter")
	if ask := accept(t, chat(`"Model":"other","MODEL":"x"`)); ask.Model != "m" {
		t.Errorf("the model is %q", ask.Model)
	}
	// Objects that the gateway only passes on are the backend's affair.
	accept(t, chat(`"metadata":{"a":"1","a":"2"}`))
}

func TestBC087_NumbersAndUnknownMembersStayAsTheyWere(t *testing.T) {
	body := chat(`"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"a.b*c":{"type":"string"},"id":{"const":7328334202200869666}}}}}],"metadata":{"x|y":1e400}`)
	ask := accept(t, body)
	if !bytes.Equal(ask.Request.Raw, []byte(body)) {
		t.Error("the body changed")
	}
	for _, m := range ask.Request.Members {
		if m.Name == "metadata" && string(ask.Request.Raw[m.Start:m.End]) != `{"x|y":1e400}` {
			t.Errorf("metadata is %s", ask.Request.Raw[m.Start:m.End])
		}
	}
	refuse(t, chat(`"seed":18446744073709551615`), "seed", "invalid_value")
	refuse(t, chat(`"seed":-9223372036854775809`), "seed", "invalid_value")
	refuse(t, chat(`"seed":1e19`), "seed", "invalid_value")
	for _, seed := range []string{"9223372036854775807", "-9223372036854775808", "9007199254740993"} {
		if got := accept(t, chat(`"seed":`+seed)).Request.Params[llm.Seed]; got != seed {
			t.Errorf("seed %s became %s", seed, got)
		}
	}
}

// optional are the members that a chat request may leave out.
var optional = []string{
	"max_completion_tokens", "max_tokens", "temperature", "top_p", "n", "stop", "frequency_penalty", "presence_penalty", "logit_bias",
	"seed", "logprobs", "top_logprobs", "stream", "stream_options", "response_format", "tools", "tool_choice", "parallel_tool_calls",
	"functions", "function_call", "reasoning_effort", "verbosity", "modalities", "audio", "prediction", "web_search_options",
	"service_tier", "store", "metadata", "user", "top_k", "min_p", "repetition_penalty", "min_tokens", "stop_token_ids",
}

func TestCheck21_NullIsAbsent(t *testing.T) {
	plain := accept(t, chat(""))
	nulls := accept(t, chat(`"`+strings.Join(optional, `":null,"`)+`":null`))
	plain.Request.Raw, plain.Request.Members = nil, nil
	nulls.Request.Raw, nulls.Request.Members = nil, nil
	for _, r := range []*llm.Request{&plain.Request, &nulls.Request} {
		r.Messages[0].Raw = nil
	}
	if got, want := fmt.Sprintf("%+v", *nulls), fmt.Sprintf("%+v", *plain); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	accept(t, completion(`"max_tokens":null,"suffix":null,"best_of":null,"logprobs":null,"echo":null,"stop":null`))
}

func TestCheck22_UnknownFieldsAreIgnored(t *testing.T) {
	wantNeeds(t, chat(`"chat_template_kwargs":{"a":1},"keep_alive":-1,"options":[],"":{},"transforms":"x"`), "")
}

func TestCheck23_StreamFlag(t *testing.T) {
	f := func(value string, want bool) {
		t.Helper()
		for _, body := range []string{chat(`"stream":` + value), completion(`"stream":` + value)} {
			if ask := accept(t, body); ask.Stream != want || ask.Request.Stream != want {
				t.Errorf("stream %s is %v", value, ask.Stream)
			}
		}
	}
	f(`true`, true)
	f(`"true"`, true)
	f(`"True"`, true)
	f(`"TRUE"`, true)
	f(`false`, false)
	f(`"false"`, false)
	f(`"False"`, false)
	f(`null`, false)
	for _, bad := range []string{`"yes"`, `1`, `0`, `[]`, `{}`, `""`, `"true "`} {
		refuse(t, chat(`"stream":`+bad), "stream", "invalid_type")
		refuse(t, completion(`"stream":`+bad), "stream", "invalid_type")
	}
}

func TestCheck24_43_BC060_MaxTokens(t *testing.T) {
	f := func(members string, want int64) {
		t.Helper()
		if got := accept(t, chat(members)).Request.MaxTokens; got != want {
			t.Errorf("%s: %d, want %d", members, got, want)
		}
	}
	f(``, 0)
	f(`"max_tokens":null`, 0)
	f(`"max_tokens":7`, 7)
	f(`"max_completion_tokens":7`, 7)
	f(`"max_tokens":9,"max_completion_tokens":7`, 7)
	f(`"max_tokens":9,"max_completion_tokens":null`, 9)
	f(`"max_tokens":-1`, llm.NoLimit)
	f(`"max_completion_tokens":-1`, llm.NoLimit)
	f(`"max_tokens":256.0`, 256)
	f(`"max_tokens":2.56e2`, 256)
	f(`"max_tokens":1e12`, 1_000_000_000_000)
	for _, field := range []string{"max_tokens", "max_completion_tokens"} {
		refuse(t, chat(`"`+field+`":0`), field, "invalid_value")
		refuse(t, chat(`"`+field+`":-2`), field, "invalid_value")
		refuse(t, chat(`"`+field+`":2.5`), field, "invalid_type")
		refuse(t, chat(`"`+field+`":"256"`), field, "invalid_type")
		refuse(t, chat(`"`+field+`":true`), field, "invalid_type")
		refuse(t, chat(`"`+field+`":1e30`), field, "invalid_value")
	}
	refuse(t, completion(`"max_tokens":0`), "max_tokens", "invalid_value")
}

func TestCheck30_WhatIsRequired(t *testing.T) {
	refuse(t, `{"model":"m"}`, "messages", "missing_required_parameter")
	refuse(t, `{"model":"m","messages":null}`, "messages", "missing_required_parameter")
	refuse(t, `{"model":"m","messages":[]}`, "messages", "empty_array")
	refuse(t, `{"model":"m","messages":7}`, "messages", "invalid_type")
	refuse(t, `{"model":"m","messages":{}}`, "messages", "invalid_type")
	refuse(t, `{"model":"m","messages":[1]}`, "messages[0]", "invalid_type")
	refuse(t, `{"messages":[{"role":"user","content":"x"}]}`, "model", "missing_required_parameter")
	refuse(t, `{"model":"","messages":[{"role":"user","content":"x"}]}`, "model", "missing_required_parameter")
	refuse(t, `{"model":5,"messages":[{"role":"user","content":"x"}]}`, "model", "invalid_type")
	refuse(t, `{"model":"`+strings.Repeat("m", 2000)+`","messages":[{"role":"user","content":"x"}]}`, "model", "invalid_value")
	refuse(t, `{"prompt":"x"}`, "model", "missing_required_parameter")
}

func TestCheck42_StreamOptions(t *testing.T) {
	f := func(members string, want bool) {
		t.Helper()
		if got := accept(t, chat(members)).IncludeUsage; got != want {
			t.Errorf("%s: %v", members, got)
		}
	}
	f(`"stream":true,"stream_options":{"include_usage":true}`, true)
	f(`"stream":true,"stream_options":{"include_usage":false}`, false)
	f(`"stream":true,"stream_options":{"include_usage":null,"include_obfuscation":true}`, false)
	f(`"stream":true,"stream_options":{}`, false)
	f(`"stream":true`, false)
	f(`"stream":false,"stream_options":{"include_usage":true}`, false)
	refuse(t, chat(`"stream":true,"stream_options":[]`), "stream_options", "invalid_type")
	refuse(t, chat(`"stream":true,"stream_options":{"include_usage":1}`), "stream_options.include_usage", "invalid_type")
}

func TestCheck40_HintsAreIgnored(t *testing.T) {
	const hints = `"user":"u","metadata":{"a":"b"},"store":true,"service_tier":"flex","prediction":{"type":"content","content":"x"},
		"prompt_cache_key":"k","safety_identifier":"s","verbosity":"low","reasoning_effort":"high","parallel_tool_calls":true,
		"stream":true,"stream_options":{"include_obfuscation":true},"seed":1`
	wantNeeds(t, chat(hints), "")
}

func TestDefaultsAreNeverNeeds(t *testing.T) {
	wantNeeds(t, chat(`"n":1,"logprobs":false,"top_logprobs":0,"frequency_penalty":0,"presence_penalty":0.0,"response_format":{"type":"text"},
		"tool_choice":"none","function_call":"none","tools":[],"functions":[],"stream":false,"modalities":["text"],"logit_bias":{},"stop":[],"seed":0`), "")
	wantNeeds(t, completion(`"n":1,"best_of":1,"suffix":"","echo":false,"logprobs":null,"logit_bias":{}`), "")
}

// Written by hand, with the parameters of the API's reference at once, as the
// generated tests of OpenAI's clients send them; it is no recording of those.
func TestCheck44_AllParametersAtOnce(t *testing.T) {
	body, err := os.ReadFile("testdata/all_parameters.json")
	if err != nil {
		t.Fatal(err)
	}
	wantNeeds(t, string(body), "frequency_penalty@frequency_penalty presence_penalty@presence_penalty logit_bias@logit_bias logprobs@logprobs audio@audio web_search_options@web_search_options")
}

func TestErrorsQuoteLittle(t *testing.T) {
	_, err := ParseChat([]byte(`{"model":"m","messages":[{"role":"` + strings.Repeat("r", 10_000) + `\n","content":"private words"}]}`))
	if s := err.Error(); len(s) > 400 || strings.Contains(s, "private") || strings.Contains(s, "\n") {
		t.Errorf("got %s", s)
	}
	_, err = ParseChat([]byte(`{"model":"m","` + strings.Repeat("k", 10_000) + `":1,"` + strings.Repeat("k", 10_000) + `":2}`))
	if len(err.Error()) > 400 {
		t.Errorf("got %s", err)
	}
}

func FuzzParse(f *testing.F) {
	all, err := os.ReadFile("testdata/all_parameters.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(all)
	for _, members := range []string{"", `"stop":["a","b"]`, `"n":2,"max_tokens":1e2`, `"stream":"true","stream_options":{"include_usage":true}`, `"seed":1e400`} {
		f.Add([]byte(chat(members)))
		f.Add([]byte(completion(members)))
	}
	f.Add([]byte(`{"prompts":[{"model":"m","prompt":"x","max_tokens":1}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		if checks, err := ParseTokenCheck(body); err != nil {
			if e, ok := err.(*llm.Error); !ok || e.Status != 400 || e.Message == "" || len(e.Message) > 1000 {
				t.Fatalf("%#v", err)
			}
		} else if len(checks) > maxChecks {
			t.Fatalf("%d checks", len(checks))
		}
		for _, parse := range []func([]byte) (*Ask, error){ParseChat, ParseCompletion} {
			ask, err := parse(body)
			if err == nil {
				if ask == nil || ask.Model == "" || ask.Request.N < 1 || len(ask.Request.Stop) > maxStops {
					t.Fatalf("accepted as %+v", ask)
				}
				continue
			}
			if e, ok := err.(*llm.Error); !ok || e.Status != 400 || e.Message == "" || len(e.Message) > 1000 {
				t.Fatalf("%#v", err)
			}
		}
	})
}

func BenchmarkParseChat(b *testing.B) {
	var history strings.Builder
	for history.Len() < 4000 {
		history.WriteString(`{"role":"user","content":"A question of a usual length, isn't it?"},{"role":"assistant","content":"An answer\nof two lines."},`)
	}
	body := []byte(`{"model":"m","stream":true,"temperature":0.7,"messages":[` + history.String() + `{"role":"user","content":"hi"}]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseChat(body); err != nil {
			b.Fatal(err)
		}
	}
}
