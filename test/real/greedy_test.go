//go:build real

package real

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// questions are what both are asked, in the words of the models' chat template.
func questions() (list []string) {
	for _, q := range strings.Split(`Story about a dog.|Story about a cat and a boat.|What is the capital of France?|Count from one to ten.|
Write a poem about the sea.|Explain why the sky is blue.|How do I boil an egg?|List five animals.|Who wrote Hamlet?|What is 17 times 3?|
Translate "good morning" into French.|Tell me a joke.|Write a function in Python that reverses a string.|Give me a recipe for pancakes.|
What is a neural network?|Name the planets.|Summarise the plot of Cinderella.|Why do cats purr?|What did the king say to the frog?|Hello!`, "|") {
		list = append(list, "<|im_start|>user\n"+strings.TrimSpace(q)+"<|im_end|>\n<|im_start|>assistant\n")
	}
	return list
}

// near is how much less likely, as a logarithm, a token may be that llama-server
// takes in place of ours. What a sum comes to depends a little on the compiler
// and on how many tokens are computed at once, and weights of four bits make more
// of it; a wrong computation is further off.
const near = 1

// TestGreedy wants the likeliest tokens of the engine to be llama-server's: for
// the same tokens, alone, with the same attention. One thread is enough, and none
// has to wait for another on a busy machine.
//
// Both load the same libraries for the processor: another compiler's give other
// last bits, and with flash attention other tokens. A prompt whose last token is
// read in a step of its own, since the engine cuts prompts by time, goes through
// other code of ggml; two of SmolLM2's answers may differ for that.
func TestGreedy(t *testing.T) {
	f := func(model, flash string, want int) {
		t.Run(filepath.Base(model)+" flash attention "+flash, func(t *testing.T) {
			engine := engineWith(t, model, "-flash-attention", flash)
			server, _ := llamaServer(t, model, "--flash-attn", flash, "--threads", "1", "--threads-batch", "1")
			equal := 0
			for _, q := range questions() {
				if compare(t, engine, server, q) {
					equal++
				}
			}
			t.Logf("%d of %d answers are equal", equal, len(questions()))
			if equal < want {
				t.Errorf("fewer than %d are", want)
			}
		})
	}
	f(stories(t), "off", 20)
	f(stories(t), "on", 20)
	smollm2 := inBin(t, "models", "smollm2.gguf")
	f(smollm2, "off", 18)
	f(smollm2, "on", 18)
}

// compare asks both and reports whether they say the same.
func compare(t *testing.T, engine, server, question string) bool {
	t.Helper()
	prompt := fmt.Sprintf(`{"prompt": [{"text": %q, "special": true}], "temperature": 0, "max_tokens": 64, "logprobs": 5}`, question)
	var read, theirs struct{ Tokens []int }
	post(t, engine+"/tokenize", prompt, &read)
	tokens, _ := json.Marshal(read.Tokens)
	post(t, server+"/completion", fmt.Sprintf(`{"prompt": %s, "temperature": 0, "n_predict": 64, "return_tokens": true}`, tokens), &theirs)
	ours := lines(t, engine+"/generate", prompt)
	for i, l := range ours {
		if i == len(theirs.Tokens) {
			t.Errorf("%s: llama-server ends after %d tokens, the engine goes on", question, i)
			return false
		}
		if l.ID == theirs.Tokens[i] {
			continue
		}
		for _, top := range l.Top {
			if top.ID == theirs.Tokens[i] && l.Logprob-top.Logprob <= near {
				return false
			}
		}
		t.Errorf("%s: token %d is %+v here and %d there", question, i, l, theirs.Tokens[i])
		return false
	}
	if len(theirs.Tokens) > len(ours)+1 { // llama-server counts the token that ends an answer
		t.Errorf("%s: the engine ends after %d tokens, llama-server goes on", question, len(ours))
		return false
	}
	return true
}

// engineWith starts the engine and returns its URL.
func engineWith(t *testing.T, model string, args ...string) string {
	t.Helper()
	program, err := filepath.Abs("../../bin/dragoman-engine")
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + freePort(t)
	p := run(t, program, append(args, "-model", model, "-listen", address, "-threads", "1", "-parallel", "1")...)
	p.ready(t, http.MethodGet, "http://"+address+"/health")
	return "http://" + address
}

// post sends a body and reads the JSON of the answer.
func post(t *testing.T, url, body string, into any) {
	t.Helper()
	a := harness.Do(t, http.MethodPost, url, body)
	if err := json.Unmarshal(a.Body, into); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %.300s", url, a.Status, err, a.Body)
	}
}

// sampled is a token of the engine's answer.
type sampled struct {
	ID      int
	Logprob float64
	Top     []struct {
		ID      int
		Logprob float64
	}
}

// lines asks the engine and returns the tokens.
func lines(t *testing.T, url, body string) (tokens []sampled) {
	t.Helper()
	a := harness.Do(t, http.MethodPost, url, body)
	for line := range strings.Lines(string(a.Body)) {
		if !strings.HasPrefix(line, `{"id"`) {
			continue
		}
		var l sampled
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, l)
	}
	if len(tokens) == 0 {
		t.Fatalf("%s: status %d: %.300s", url, a.Status, a.Body)
	}
	return tokens
}
