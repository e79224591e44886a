//go:build llama

package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// embedded asks for embeddings of texts, which come as they are.
func (p *process) embedded(t testing.TB, texts ...string) (vectors [][]float64, status int, body string) {
	t.Helper()
	var input [][]map[string]string
	for _, text := range texts {
		input = append(input, []map[string]string{{"text": text}})
	}
	sent, err := json.Marshal(map[string]any{"input": input})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := p.client.Post(p.url+"/embed", "application/json", strings.NewReader(string(sent)))
	if err != nil {
		t.Error(err)
		return nil, 0, ""
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	var answer struct{ Embeddings [][]byte }
	if err != nil || resp.StatusCode == http.StatusOK && json.Unmarshal(data, &answer) != nil {
		t.Errorf("got %d %.300s (%v)", resp.StatusCode, data, err)
	}
	for _, packed := range answer.Embeddings {
		v := make([]float64, len(packed)/4)
		for i := range v {
			v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:])))
		}
		vectors = append(vectors, v)
	}
	return vectors, resp.StatusCode, string(data)
}

// likeness is the cosine of the angle between vectors of length 1.
func likeness(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestEmbeddings(t *testing.T) {
	for _, model := range models() {
		p := start(t, "-model", model, "-embeddings", "-ctx", "512")
		texts := []string{"The dog ran to the park.", "The dog ran to the park with a boy.", "Lily", "<|im_end|>", " "}
		for i := range 70 { // more than a batch
			texts = append(texts, strings.Repeat("A cat sat on a mat. ", i%7+1)+fmt.Sprint(i))
		}
		all, status, body := p.embedded(t, texts...)
		if status != http.StatusOK || len(all) != len(texts) {
			t.Fatalf("%s: got %d, %d embeddings, %.300s", model, status, len(all), body)
		}
		for i, v := range all {
			if math.Abs(likeness(v, v)-1) > 1e-5 {
				t.Errorf("%s: the length of embedding %d is %v", model, i, likeness(v, v))
			}
		}
		if near, far := likeness(all[0], all[1]), likeness(all[0], all[2]); near <= far {
			t.Errorf("%s: what is alike is as near as %v, what is not as %v", model, near, far)
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				alone, _, body := p.embedded(t, texts[i])
				if len(alone) != 1 || likeness(alone[0], all[i]) < 0.999 {
					t.Errorf("%s: %q alone and in a batch: %.300s", model, texts[i], body)
				}
			})
		}
		wg.Wait()
	}
}

func TestEmbeddingsRefuse(t *testing.T) {
	p := start(t, "-embeddings", "-ctx", "64")
	if _, status, body := p.embedded(t, "a", strings.Repeat("dog ", 100)); status != 400 || !strings.Contains(body, `"n_ctx":64,"prompt_tokens":202`) {
		t.Errorf("got %d %s", status, body)
	}
	if r := p.generate(t, "Story about a dog.", greedy); r.status != 400 {
		t.Errorf("it generates: %+v", r)
	}
	p = start(t)
	if _, status, body := p.embedded(t, "a"); status != 400 || !strings.Contains(body, "-embeddings") {
		t.Errorf("got %d %s", status, body)
	}
}
