package serve_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dragoman/engine/enginetest"
	"dragoman/engine/fakellama"
)

// vectors reads an answer of /embed.
func vectors(t *testing.T, got answer) (all [][]float32, promptTokens int) {
	t.Helper()
	var body struct {
		Embeddings   []string
		PromptTokens int `json:"prompt_tokens"`
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || got.status != 200 {
		t.Fatalf("got %d %s (%v)", got.status, got.body, err)
	}
	for _, text := range body.Embeddings {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		var v []float32
		for at := 0; at < len(data); at += 4 {
			v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(data[at:])))
		}
		all = append(all, v)
	}
	return all, body.PromptTokens
}

func TestEmbed(t *testing.T) {
	url := enginetest.NewEmbedder(t, &fakellama.Model{}, enginetest.Options{}).URL
	// Before each input is BOS (256), after it EOS (257); plain text makes no token.
	all, n := vectors(t, do(t, "POST", url+"/embed", `{"input":[[{"text":"a"}],[{"text":"<s>b","special":true}],[{"text":"<s>"}]],"normalize":false}`))
	if got := fmt.Sprint(all, n); got != "[[3 256 257] [3 256 257] [5 256 257]] 11" {
		t.Errorf("got %s", got)
	}
	all, _ = vectors(t, do(t, "POST", url+"/embed", `{"input":[[{"text":"a"}]]}`))
	if sum := dot(all[0], all[0]); math.Abs(sum-1) > 1e-6 {
		t.Errorf("the length of %v is %v", all[0], sum)
	}
	if got := do(t, "POST", url+"/tokenize", `{"prompt":[{"text":"a"}]}`); got.body != `{"tokens":[256,97,257],"count":3}`+"\n" {
		t.Errorf("tokenize: %s", got.body)
	}
	if got := do(t, "GET", url+"/props", ""); !strings.Contains(got.body, `"embeddings":{"dimensions":3,"pooling":"mean"}`) {
		t.Errorf("props: %s", got.body)
	}
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestEmbedRefuses(t *testing.T) {
	m := &fakellama.Model{OnEmbed: func(inputs [][]int32) error {
		if len(inputs[0]) == 7 {
			return errors.New("boom")
		}
		return nil
	}}
	url := enginetest.NewEmbedder(t, m, enginetest.Options{Context: 8}).URL
	many := strings.TrimSuffix(strings.Repeat(`[{"text":"a"}],`, 2049), ",")
	for _, c := range []struct {
		body   string
		status int
		want   string
	}{
		{`{}`, 400, `"invalid_request","message":"input has 0 inputs`},
		{`{"input":[` + many + `]}`, 400, `"invalid_request","message":"input has 2049 inputs`},
		{`{"input":[[]]}`, 400, `"invalid_request","message":"Input 0 is empty.`},
		{`{"input":[[{"text":"a"}],[{"text":""}]]}`, 400, `"invalid_request","message":"Input 1 is empty.`},
		{`{"input":["a"]}`, 400, `"invalid_request","message":"input`},
		{`{"input":[[{"text":"a"}],[{"text":"abcdefg"}]]}`, 400, `"context_length_exceeded","message":"This model's maximum context length is 8 tokens. However, input 1 has 9 tokens.","n_ctx":8,"prompt_tokens":9`},
		{`{"input":[[{"text":"abcde"}]]}`, 500, `"engine_error","message":"boom"`},
	} {
		if got := do(t, "POST", url+"/embed", c.body); got.status != c.status || !strings.HasPrefix(got.body, `{"error":{"code":`+c.want) {
			t.Errorf("%.60s: got %d %s", c.body, got.status, got.body)
		}
	}
	if got := do(t, "POST", url+"/generate", `{"prompt":[{"text":"a"}]}`); got.status != 400 || !strings.Contains(got.body, "generates nothing") {
		t.Errorf("generate: %d %s", got.status, got.body)
	}
	url = enginetest.New(t, m, enginetest.Options{}).URL
	if got := do(t, "POST", url+"/embed", `{"input":[[{"text":"a"}]]}`); got.status != 400 || !strings.Contains(got.body, "-embeddings") {
		t.Errorf("an engine that generates: %d %s", got.status, got.body)
	}
}
