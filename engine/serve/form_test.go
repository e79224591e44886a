package serve_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	"dragoman/engine/enginetest"
	"dragoman/engine/fakellama"
)

// babble is a model that knows nothing: its logits are as good as random, and
// like to end an answer soon or to open a bracket.
func babble() *fakellama.Model {
	return &fakellama.Model{Weigh: func(tokens []int32, logits []float32) {
		h := fnv.New64a()
		for _, id := range tokens {
			h.Write([]byte{byte(id), byte(id >> 8)})
		}
		r := rand.New(rand.NewPCG(h.Sum64(), 1))
		for i := range logits {
			logits[i] = r.Float32() * 10
		}
		logits[fakellama.EOS], logits['{'], logits[fakellama.IMStart] = 9, 9, 12
	}}
}

// said returns the text of an answer and what ended it.
func said(t *testing.T, got answer) (text, reason string) {
	t.Helper()
	for line := range strings.Lines(got.body) {
		var l struct {
			Text   string
			Bytes  []byte
			Reason string
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.Error != nil {
			t.Fatalf("%s: %v", line, err)
		}
		text += l.Text + string(l.Bytes)
		reason = l.Reason
	}
	return text, reason
}

func TestForms(t *testing.T) {
	url := enginetest.New(t, babble(), enginetest.Options{Context: 400}).URL
	whole := 0
	f := func(members string, check func(text string) bool) {
		t.Helper()
		for seed := range 4 {
			got := do(t, "POST", url+"/generate", fmt.Sprintf(`{"prompt":[{"text":"hi"}],"temperature":2,"seed":%d,%s}`, seed, members))
			if got.status != 200 {
				t.Fatalf("%s: got %d %s", members, got.status, got.body)
			}
			text, reason := said(t, got)
			if reason == "eos" {
				whole++
				if !check(text) {
					t.Errorf("%s: got %q", members, text)
				}
			} else if reason != "context" && reason != "max_tokens" {
				t.Errorf("%s: ended by %s", members, reason)
			}
		}
	}
	object := func(text string) bool {
		var v map[string]any
		return json.Unmarshal([]byte(text), &v) == nil
	}
	f(`"json":true`, object)
	f(`"json_schema":{"type":"object","properties":{"a":{"type":"integer"},"b":{"enum":["x","y"]}},"required":["a","b"],"additionalProperties":false}`, func(text string) bool {
		var v struct {
			A *int
			B string
		}
		return json.Unmarshal([]byte(text), &v) == nil && v.A != nil && (v.B == "x" || v.B == "y")
	})
	f(`"json_schema":{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":3},"min_tokens":40`, func(text string) bool {
		var v []bool
		return json.Unmarshal([]byte(text), &v) == nil && len(v) >= 2 && len(v) <= 3
	})
	f(`"grammar":"root ::= \"yes\" | \"no\" | \"é\""`, func(text string) bool { return text == "yes" || text == "no" || text == "é" })
	f(`"grammar":"root ::= [0-9]{1,5}","stop_token_ids":[259],"logit_bias":{"48":-100}`, func(text string) bool { return strings.Trim(text, "123456789") == "" })
	f(`"json":false,"json_schema":null,"grammar":null,"max_tokens":3`, func(string) bool { return true })
	if whole < 16 {
		t.Errorf("only %d answers were whole", whole)
	}
}

// A document that is complete ends the answer, without another step for the end.
func TestWholeDocumentsEndTheAnswer(t *testing.T) {
	m := &fakellama.Model{Reply: func(string) string { return `{"a":1} and more` }}
	got := do(t, "POST", enginetest.New(t, m, enginetest.Options{}).URL+"/generate", `{"prompt":[{"text":"hi"}],"json":true,"max_tokens":7}`)
	if text, reason := said(t, got); text != `{"a":1}` || reason != "eos" {
		t.Errorf("got %q, %s", text, reason)
	}
}

func TestBadForms(t *testing.T) {
	url := enginetest.New(t, babble(), enginetest.Options{}).URL
	f := func(members, want string) {
		t.Helper()
		got := do(t, "POST", url+"/generate", `{"prompt":[{"text":"hi"}],`+members+`}`)
		if got.status != 400 || got.body != `{"error":{"code":"invalid_request","message":`+want+"}}\n" {
			t.Errorf("%s: got %d %s", members, got.status, got.body)
		}
	}
	f(`"json_schema":{"properties":{"a":{"not":{}}}}`, `"Invalid schema: properties.a.not: it cannot be enforced.","param":"json_schema.properties.a.not"`)
	f(`"json_schema":{"type":5}`, `"Invalid schema: type: it is object, array, string, number, integer, boolean, null, or a list of these.","param":"json_schema.type"`)
	f(`"json_schema":"x"`, `"Invalid schema: a schema is an object or a boolean.","param":"json_schema"`)
	f(`"json_schema":{"properties":{"`+strings.Repeat("p", 60)+`":false}}`, `"Invalid schema: properties.`+strings.Repeat("p", 60)+`: nothing fits false.","param":"json_schema"`)
	f(`"grammar":"root ::= x"`, `"Invalid grammar: rule x is missing.","param":"grammar"`)
	f(`"grammar":"root ::= (\"a\"?){1000000} \"b\""`, `"the grammar can be read in too many ways","param":"grammar"`)
	f(`"json":true,"after":[""]`, `"after is a list of up to 16 texts, of 1 to 100 bytes","param":"after"`)
	f(`"json":true,"after":["`+strings.Repeat("x", 101)+`"]`, `"after is a list of up to 16 texts, of 1 to 100 bytes","param":"after"`)
	f(`"json":true,"json_schema":{}`, `"json is there together with json_schema or grammar","param":"json"`)
	f(`"json_schema":{},"grammar":""`, `"grammar is there together with json_schema","param":"grammar"`)
	f(`"json":1`, `"json has the wrong type or size: number."`)
}

// A form may begin behind the reasoning; until then everything may come but the
// end.
func TestFormsAfterReasoning(t *testing.T) {
	f := func(reply, want, reason string) {
		t.Helper()
		m := &fakellama.Model{Control: []string{"<|done|>"}, Reply: func(string) string { return reply }}
		got := do(t, "POST", enginetest.New(t, m, enginetest.Options{}).URL+"/generate",
			`{"prompt":[{"text":"hi"}],"json":true,"after":["</think>","<|done|>"],"max_tokens":30}`)
		if reason == "" {
			if !strings.Contains(got.body, "no token is left to choose from") {
				t.Errorf("%q: got %s", reply, got.body)
			}
			return
		}
		if text, why := said(t, got); text != want || why != reason {
			t.Errorf("%q: got %q, %s, want %q, %s", reply, text, why, want, reason)
		}
	}
	f(`hm { </th </think>{"a":1} more`, `hm { </th </think>{"a":1}`, "eos")
	f(`<|done|>{"a":1} more`, `{"a":1}`, "eos")
	f(strings.Repeat("hm ", 20), strings.Repeat("hm ", 10), "max_tokens")
	f(`hm`, ``, "") // the model can do nothing but end
	f(`</think>no`, ``, "")
}
