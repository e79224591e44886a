//go:build llama

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// models are the built-in one and, if the environment names it, another that
// knows the same chat template, such as SmolLM2-Instruct.
func models() []string {
	all := []string{builtin}
	if file := os.Getenv("DRAGOMAN_TEST_MODEL"); file != "" {
		all = append(all, file)
	}
	return all
}

const personSchema = `{"type":"object","properties":{"name":{"type":"string","maxLength":30},"age":{"type":"integer","minimum":0,"maximum":120},
	"kind":{"enum":["cat","dog"]},"born":{"type":"string","format":"date"},"tags":{"type":"array","items":{"type":"string","maxLength":12},"maxItems":3}},
	"required":["name","age","kind","born","tags"],"additionalProperties":false}`

// However hot the model runs, an answer that is whole has its form.
func TestAnswersKeepTheirForm(t *testing.T) {
	for _, model := range models() {
		p := start(t, "-model", model)
		whole := map[string]int{}
		f := func(name, members string, check func(text string) error) {
			t.Helper()
			for seed := range 8 {
				temperature := []string{"0", "0.8", "2"}[seed%3]
				r := p.generate(t, "Tell me about a dog, as JSON.", fmt.Sprintf(`"temperature":%s,"top_p":1,"top_k":0,"min_p":0,"seed":%d,"max_tokens":300,%s`, temperature, seed, members))
				switch {
				case r.last.Reason == "eos":
					whole[name]++
					if err := check(r.text); err != nil {
						t.Errorf("%s, %s: %v in %q", model, name, err, r.text)
					}
				case r.last.Reason != "max_tokens":
					t.Errorf("%s, %s: %+v after %q", model, name, r.last, r.text)
				}
			}
		}
		f("json", `"json":true`, func(text string) error {
			var v map[string]any
			return json.Unmarshal([]byte(text), &v)
		})
		f("schema", `"json_schema":`+personSchema, func(text string) error {
			var v struct {
				Name, Kind, Born *string
				Age              *int
				Tags             []string
			}
			err := json.Unmarshal([]byte(text), &v)
			if err == nil && (v.Name == nil || v.Kind == nil || v.Born == nil || v.Age == nil || *v.Age > 120 || len(v.Tags) > 3) {
				err = fmt.Errorf("not the schema's")
			}
			return err
		})
		f("grammar", `"grammar":"root ::= \"The \" [a-z]{3,9} \" is \" (\"good\" | \"bad\") \".\""`, func(text string) error {
			if !strings.HasPrefix(text, "The ") || !strings.HasSuffix(text, ".") {
				return fmt.Errorf("not the grammar's")
			}
			return nil
		})
		if whole["schema"] < 7 || whole["grammar"] < 8 {
			t.Errorf("%s: whole answers of 8: %v", model, whole)
		}
		t.Logf("%s: whole answers of 8: %v", model, whole)
	}
}

// A token's probabilities add up, and the one that comes without chance is the
// likeliest.
func TestLogprobs(t *testing.T) {
	for _, model := range models() {
		p := start(t, "-model", model)
		resp, err := p.client.Post(p.url+"/generate", "", strings.NewReader(request("Story about a dog.", greedy+short+`,"logprobs":20`)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		n := 0
		for lines.Scan() {
			var l struct {
				ID      *int32
				Logprob float64
				Top     []struct {
					ID      int32
					Logprob float64
				}
			}
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				t.Fatal(err)
			}
			if l.ID == nil {
				continue
			}
			n++
			sum := 0.0
			for _, top := range l.Top {
				sum += math.Exp(top.Logprob)
			}
			if len(l.Top) != 20 || l.Top[0].ID != *l.ID || l.Top[0].Logprob != l.Logprob || sum > 1.0001 || l.Logprob > 0 {
				t.Errorf("%s: the probabilities add up to %f: %s", model, sum, lines.Text())
			}
		}
		if n == 0 {
			t.Errorf("%s: no tokens", model)
		}
	}
}
