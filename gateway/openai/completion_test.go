package openai

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

func TestCheck76_Prompt(t *testing.T) {
	f := func(prompt, want string) {
		t.Helper()
		ask := accept(t, `{"model":"m","prompt":`+prompt+`}`)
		if got := ask.Request.Prompt; len(got) != 1 || got[0].Text != want || got[0].Special || ask.Request.Kind != llm.Completion {
			t.Errorf("prompt %s is %+v", prompt, got)
		}
	}
	f(`"Once"`, "Once")
	f(`["Once"]`, "Once")
	f(`""`, "")
	refuse(t, `{"model":"m","prompt":null}`, "prompt", "missing_required_parameter")
	refuse(t, `{"model":"m","prompt":{}}`, "prompt", "invalid_type")
	refuse(t, `{"model":"m","prompt":7}`, "prompt", "invalid_type")
	refuse(t, `{"model":"m","prompt":[]}`, "prompt", "empty_array")
	refuse(t, `{"model":"m","prompt":[null]}`, "prompt", "invalid_type")
	refuse(t, `{"model":"m","prompt":["a",7]}`, "prompt", "unsupported_value")
	refuse(t, `{"model":"m","prompt":["a",null]}`, "prompt", "invalid_type")
	if _, err := ParseCompletion([]byte(`{"model":"m"}`)); err == nil {
		t.Error("a completion without a prompt was accepted")
	}
}

func TestSeveralPrompts(t *testing.T) {
	ask := accept(t, `{"model":"m","prompt":["a","","c"],"n":2,"echo":true}`)
	want := []llm.Prompt{{{Text: "a"}}, {{Text: ""}}, {{Text: "c"}}}
	if r := ask.Request; !reflect.DeepEqual(r.Prompts, want) || r.Prompt.Text() != "a" || r.N != 2 {
		t.Errorf("got %+v", r)
	}
	if want := []string{"a", "a", "", "", "c", "c"}; !slices.Equal(ask.Echo, want) {
		t.Errorf("echo is %q", ask.Echo)
	}
	if one := accept(t, `{"model":"m","prompt":["a"]}`).Request; one.Prompts != nil {
		t.Errorf("got %+v", one)
	}
	accept(t, `{"model":"m","prompt":["a"`+strings.Repeat(`,"b"`, 63)+`],"n":2}`)
	refuse(t, `{"model":"m","prompt":["a"`+strings.Repeat(`,"b"`, 64)+`],"n":2}`, "prompt", "invalid_value")
}

func TestEchoOfSeveralPrompts(t *testing.T) {
	m := Meta{ID: "cmpl-1", Model: "m", Kind: llm.Completion, Echo: []string{"A", "", "C"}}
	third := text(" three")
	third.Choice = 2
	chunks := frames(t, write(m, llm.Usage{}, third, text(" one")))
	for i, want := range []string{"A one", "", "C three"} {
		if got := joined(t, chunks, i, "text"); got != want {
			t.Errorf("choice %d is %q", i, got)
		}
	}
}

func TestCheck78_TokenIDs(t *testing.T) {
	refuse(t, `{"model":"m","prompt":[1,2,3]}`, "prompt", "unsupported_value")
	refuse(t, `{"model":"m","prompt":[[1,2,3]]}`, "prompt", "unsupported_value")
}

func TestCheck79_EchoSuffixBestOfLogprobs(t *testing.T) {
	if ask := accept(t, completion(`"echo":true`)); !slices.Equal(ask.Echo, []string{"Once"}) {
		t.Errorf("echo is %q", ask.Echo)
	}
	if ask := accept(t, completion(`"echo":false`)); ask.Echo != nil {
		t.Errorf("echo is %q", ask.Echo)
	}
	wantNeeds(t, completion(`"suffix":"the end"`), "suffix@suffix")
	wantNeeds(t, completion(`"best_of":3`), "best_of@best_of")
	wantNeeds(t, completion(`"logprobs":0`), "logprobs@logprobs")
	wantNeeds(t, completion(`"logprobs":5`), "logprobs@logprobs")
	wantNeeds(t, completion(`"suffix":null,"best_of":1,"logprobs":null,"echo":true`), "")
	refuse(t, completion(`"suffix":5`), "suffix", "invalid_type")
	refuse(t, completion(`"best_of":21`), "best_of", "invalid_value")
	refuse(t, completion(`"n":3,"best_of":2`), "best_of", "invalid_value")
	refuse(t, completion(`"logprobs":6`), "logprobs", "invalid_value")
	refuse(t, completion(`"logprobs":true`), "logprobs", "invalid_type")
	refuse(t, completion(`"echo":1`), "echo", "invalid_type")
}

func TestCheck80_SixteenTokensUnlessSaid(t *testing.T) {
	f := func(members string, want int64) {
		t.Helper()
		if got := accept(t, completion(members)).Request.MaxTokens; got != want {
			t.Errorf("%s: %d, want %d", members, got, want)
		}
	}
	f(``, 16)
	f(`"max_tokens":null`, 16)
	f(`"max_tokens":99`, 99)
	f(`"max_tokens":-1`, llm.NoLimit)
}

func TestCheck81_CompletionStreamGolden(t *testing.T) {
	m := Meta{ID: "cmpl-1", Created: 1764500000, Model: "m", Kind: llm.Completion, IncludeUsage: true, Echo: []string{"Once"}}
	got := write(m, llm.Usage{Prompt: 1, Completion: 1, Has: true}, text(" upon"), finish(llm.FinishLength))
	golden(t, got, `
data: {"id":"cmpl-1","object":"text_completion","created":1764500000,"model":"m","choices":[{"index":0,"text":"Once","logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cmpl-1","object":"text_completion","created":1764500000,"model":"m","choices":[{"index":0,"text":" upon","logprobs":null,"finish_reason":null}],"usage":null}

data: {"id":"cmpl-1","object":"text_completion","created":1764500000,"model":"m","choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"length"}],"usage":null}

data: {"id":"cmpl-1","object":"text_completion","created":1764500000,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}

data: [DONE]

`)
}

func TestEarlyCommitOfACompletion(t *testing.T) {
	m := Meta{ID: "cmpl-1", Model: "m", Kind: llm.Completion}
	f := func(want string) {
		t.Helper()
		w := NewChunkWriter(m)
		out := w.AppendRole(nil)
		out = w.AppendKeepAlive(out)
		out = w.AppendEvent(out, text(" upon"))
		out = w.AppendEvent(out, finish(llm.FinishStop))
		chunks := frames(t, w.AppendEnd(out, llm.Usage{}))
		if got := joined(t, chunks, 0, "text"); got != want || len(chunks) != 4 {
			t.Errorf("got %q in %d chunks, want %q", got, len(chunks), want)
		}
	}
	f(" upon")
	m.Echo = []string{"Once"}
	f("Once upon")
}
