package serve_test

import (
	"strings"
	"testing"

	"dragoman/engine/enginetest"
	"dragoman/engine/fakellama"
)

// letters is a model that after any text takes a for the likeliest letter, then
// b, c and the end of its answer. Those are all it knows.
func letters() *fakellama.Model {
	return &fakellama.Model{Weigh: func(_ []int32, logits []float32) {
		for i := range logits {
			logits[i] = -1000
		}
		logits['a'], logits['b'], logits['c'], logits[fakellama.EOS] = 3, 2, 1, 0
	}}
}

// text returns what the lines of an answer say, and its last line without timings.
func text(t *testing.T, got answer) (text, last string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(got.body, "\n"), "\n")
	for _, line := range lines[:len(lines)-1] {
		_, after, _ := strings.Cut(line, `"text":"`)
		letter, _, _ := strings.Cut(after, `"`)
		text += letter
	}
	last, _, _ = strings.Cut(lines[len(lines)-1], `,"timings"`)
	return text, last
}

func TestControls(t *testing.T) {
	url := enginetest.New(t, letters(), enginetest.Options{NoBOS: true}).URL
	f := func(members, want string) {
		t.Helper()
		got := do(t, "POST", url+"/generate", `{"prompt":[{"text":"a"}],"temperature":0,`+members+`}`)
		if said, last := text(t, got); got.status != 200 || said != want {
			t.Errorf("%s: got %d %q, want %q; %s", members, got.status, said, want, last)
		}
	}
	f(`"max_tokens":3`, "aaa")
	f(`"max_tokens":4,"presence_penalty":1.5`, "abaa")
	f(`"max_tokens":6,"frequency_penalty":0.6`, "aababa")
	f(`"max_tokens":3,"repetition_penalty":1.6`, "baa")
	f(`"max_tokens":2,"logit_bias":{"97":-100,"99":1.5}`, "cc")
	f(`"max_tokens":2,"logit_bias":{"98":100}`, "bb")
	f(`"max_tokens":5,"logit_bias":{"257":10}`, "")
	f(`"max_tokens":5,"logit_bias":{"257":10},"min_tokens":2`, "aa")
	f(`"max_tokens":5,"stop_token_ids":[97],"min_tokens":2`, "bb")
	f(`"max_tokens":2,"logit_bias":{},"presence_penalty":null,"frequency_penalty":0,"min_tokens":null`, "aa")
}

func TestControlsOutOfRange(t *testing.T) {
	url := enginetest.New(t, letters(), enginetest.Options{}).URL
	f := func(members, want string) {
		t.Helper()
		got := do(t, "POST", url+"/generate", `{"prompt":[{"text":"a"}],`+members+`}`)
		if got.status != 400 || !strings.HasPrefix(got.body, `{"error":{"code":"invalid_request","message":"`+want) {
			t.Errorf("%s: got %d %s", members, got.status, got.body)
		}
	}
	f(`"frequency_penalty":2.1`, "frequency_penalty is 2.1: give -2 to 2")
	f(`"presence_penalty":-3`, "presence_penalty is -3")
	f(`"repetition_penalty":0`, "repetition_penalty is 0: give more than 0")
	f(`"min_tokens":-1`, "min_tokens is -1")
	f(`"min_tokens":5,"max_tokens":4`, "min_tokens is 5, more than max_tokens")
	f(`"logprobs":21`, "logprobs is 21: give 0 to 20")
	f(`"logprobs":true`, "logprobs has the wrong type")
	f(`"logit_bias":{"260":1}`, "logit_bias has token 260: this model's are 0 to 259")
	f(`"logit_bias":{"-1":1}`, "logit_bias has token -1")
	f(`"logit_bias":{"97":100.5}`, "logit_bias of token 97 is 100.5: give -100 to 100")
	f(`"logit_bias":{"a":1}`, "logit_bias.a has the wrong type")
	f(`"logit_bias":[1]`, "logit_bias has the wrong type")
}

func TestBansLeaveNothing(t *testing.T) {
	m := &fakellama.Model{Reply: func(string) string { return "a" }} // and no other letter is possible
	got := do(t, "POST", enginetest.New(t, m, enginetest.Options{}).URL+"/generate", `{"prompt":[{"text":"a"}],"logit_bias":{"97":-100}}`)
	if got.status != 500 || !strings.Contains(got.body, `"no token is left to choose from"`) {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestLogprobs(t *testing.T) {
	m := letters()
	weigh := m.Weigh
	m.Weigh = func(tokens []int32, logits []float32) {
		if weigh(tokens, logits); tokens[len(tokens)-1] == 'b' {
			logits[0xc3] = 9 // the first byte of a character
		}
	}
	url := enginetest.New(t, m, enginetest.Options{NoBOS: true}).URL
	f := func(body, want string) {
		t.Helper()
		got := do(t, "POST", url+"/generate", body)
		if lines, _, _ := strings.Cut(got.body, `{"done"`); got.status != 200 || lines != want {
			t.Errorf("%s: got %d\n%s\nwant\n%s", body, got.status, lines, want)
		}
	}
	f(`{"prompt":[{"text":"a"}],"temperature":0,"max_tokens":1,"logprobs":0}`, `{"id":97,"text":"a","logprob":-0.44019,"top":[]}
`)
	f(`{"prompt":[{"text":"a"}],"temperature":0,"max_tokens":1,"logprobs":4,"logit_bias":{"97":-100}}`,
		`{"id":98,"text":"b","logprob":-1.44019,"top":[{"id":97,"text":"a","logprob":-0.44019},{"id":98,"text":"b","logprob":-1.44019},`+
			`{"id":99,"text":"c","logprob":-2.44019},{"id":257,"special":true,"text":"</s>","logprob":-3.44019}]}
`)
	f(`{"prompt":[{"text":"b"}],"temperature":0,"max_tokens":1,"logprobs":1}`,
		`{"id":195,"bytes":"ww==","logprob":-0.003842,"top":[{"id":195,"bytes":"ww==","logprob":-0.003842}]}
`)
}

func TestSpell(t *testing.T) {
	m := &fakellama.Model{
		Control: []string{"<|channel|>", "<|other|>"},
		Reply:   func(string) string { return "<|channel|>a<|other|><|channel|>" },
	}
	url := enginetest.New(t, m, enginetest.Options{}).URL
	f := func(members, want string) {
		t.Helper()
		got := do(t, "POST", url+"/generate", `{"prompt":[{"text":"a"}]`+members+`}`)
		if lines, _, _ := strings.Cut(got.body, `{"done"`); got.status != 200 || lines != want {
			t.Errorf("%s: got %d\n%s\nwant\n%s", members, got.status, lines, want)
		}
	}
	hidden := `{"id":260,"text":""}
{"id":97,"text":"a"}
{"id":261,"text":""}
{"id":260,"text":""}
`
	f(``, hidden)
	f(`,"spell":[]`, hidden)
	f(`,"spell":["</s>","<|im_end|>","channel"]`, hidden)
	f(`,"spell":["x","<|channel|>final<|message|>"]`, strings.ReplaceAll(hidden, `260,"text":""`, `260,"special":true,"text":"<|channel|>"`))
}
