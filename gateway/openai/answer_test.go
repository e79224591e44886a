package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

func TestCheck45_47_AnswerGolden(t *testing.T) {
	got := AppendAnswer(nil, meta(), &stream.Answer{
		Choices: []stream.AnswerChoice{{Text: []byte("Hello,\n\"you\"\u2028</b>"), Finish: llm.FinishStop}},
		Usage:   llm.Usage{Prompt: 9, Completion: 3, Has: true},
	})
	golden(t, append(got, '\n'), `
{"id":"chatcmpl-1","object":"chat.completion","created":1764500000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello,\n\"you\"\u2028</b>","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}
`)
}

func TestCheck46_AnswerWithToolCalls(t *testing.T) {
	got := AppendAnswer(nil, meta(), &stream.Answer{
		Choices: []stream.AnswerChoice{{
			Reasoning: []byte("hm"), Finish: llm.FinishTools,
			Tools: []llm.ToolCall{{ID: "call_1", Name: "f", Arguments: `{"x":1}`}, {ID: "call_2", Name: "g", Arguments: `{}`}},
		}},
		Usage: llm.Usage{Prompt: 9, Completion: 3, Cached: 8, Has: true, Estimated: true},
	})
	golden(t, append(got, '\n'), `
{"id":"chatcmpl-1","object":"chat.completion","created":1764500000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":null,"reasoning_content":"hm","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"call_2","type":"function","function":{"name":"g","arguments":"{}"}}]},"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"prompt_tokens_details":{"cached_tokens":8},"estimated":true}}
`)
}

func TestCheck76_CompletionAnswerGolden(t *testing.T) {
	m := Meta{ID: "cmpl-1", Created: 1764500000, Model: "m", Kind: llm.Completion, Echo: []string{"Once", "Once"}}
	got := AppendAnswer(nil, m, &stream.Answer{
		Choices: []stream.AnswerChoice{
			{Text: []byte(" upon"), Finish: llm.FinishLength, Extra: []byte(`"system_fingerprint":"fp"`)},
			{Index: 1, Finish: "eos"},
		},
		Usage: llm.Usage{Prompt: 1, Completion: 1, Has: true},
	})
	golden(t, append(got, '\n'), `
{"id":"cmpl-1","object":"text_completion","created":1764500000,"model":"m","choices":[{"index":0,"text":"Once upon","logprobs":null,"finish_reason":"length"},{"index":1,"text":"Once","logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},"system_fingerprint":"fp"}
`)
}

func TestCheck49_AnswersHaveNoErrorMember(t *testing.T) {
	var answer map[string]any
	got := AppendAnswer(nil, meta(), &stream.Answer{Choices: []stream.AnswerChoice{{Finish: llm.FinishStop}}})
	if err := json.Unmarshal(got, &answer); err != nil {
		t.Fatal(err)
	}
	if _, ok := answer["error"]; ok {
		t.Errorf("got %s", got)
	}
	if s := fmt.Sprint(answer["choices"]); s != "[map[finish_reason:stop index:0 logprobs:<nil> message:map[content: refusal:<nil> role:assistant]]]" {
		t.Errorf("an empty answer is %s", s)
	}
}

func TestErrorBodies(t *testing.T) {
	f := func(err error, status int, want string) {
		t.Helper()
		if got := Status(err); got != status {
			t.Errorf("%v: status %d, want %d", err, got, status)
		}
		if got := string(AppendErrorBody(nil, err)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	const general = `{"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}}`
	f(errors.New("open /etc/key: KEY123"), 500, general)
	f((*llm.Error)(nil), 500, general)
	f(nil, 500, general)
	f(&llm.Error{}, 500, general)
	f(llm.Invalid("n", "invalid_value", "Bad \"n\"."), 400,
		`{"error":{"message":"Bad \"n\".","type":"invalid_request_error","param":"n","code":"invalid_value"}}`)
	f(fmt.Errorf("picking: %w", &llm.Error{Status: 404, Code: "model_not_found", Param: "model", Message: "The model 'x' does not exist."}), 404,
		`{"error":{"message":"The model 'x' does not exist.","type":"invalid_request_error","param":"model","code":"model_not_found"}}`)
	f(&llm.Error{Status: http.StatusBadGateway, Message: "Gone.", Err: errors.New("KEY123")}, 502,
		`{"error":{"message":"Gone.","type":"server_error","param":null,"code":null}}`)
	long := string(AppendErrorBody(nil, llm.Upstream(502, "", "%s", strings.Repeat("\u00e9", 1<<20))))
	if !json.Valid([]byte(long)) || len(long) > 5000 {
		t.Errorf("an error body of %d bytes", len(long))
	}
}

func TestCheck82_Models(t *testing.T) {
	got := AppendModels(nil, []ModelInfo{{"stories", 1764500000, "dragoman"}, {"meta/llama \"3\"", 5, "me"}})
	golden(t, append(got, '\n'), `
{"object":"list","data":[{"id":"stories","object":"model","created":1764500000,"owned_by":"dragoman"},{"id":"meta/llama \"3\"","object":"model","created":5,"owned_by":"me"}]}
`)
	if got := string(AppendModels(nil, nil)); got != `{"object":"list","data":[]}` {
		t.Errorf("got %s", got)
	}
}

func TestCheck45_TotalNeverOverflows(t *testing.T) {
	u := llm.Usage{Prompt: math.MaxInt, Completion: math.MaxInt, Has: true}
	var got struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Total      int64 `json:"total_tokens"`
	}
	if err := json.Unmarshal(appendUsage(nil, u), &got); err != nil || got.Total <= 0 || got.Total != got.Prompt+got.Completion {
		t.Errorf("got %+v, %v", got, err)
	}
}
