//go:build llama && unix

package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// A model for text, opened for embeddings: the whole way, and a request that is not
// for it.
func TestEmbeddings(t *testing.T) {
	p := start(t, `e: {engine: {model: "builtin:stories", embeddings: true, ctx: 64}}`)
	got := harness.Do(t, http.MethodPost, p.base+"/v1/embeddings", `{"model":"e","input":["a dog","a cat and a dog"]}`)
	var answer struct {
		Data []struct {
			Index     int
			Embedding []float64
		}
		Usage map[string]any
	}
	if err := json.Unmarshal(got.Body, &answer); err != nil || got.Status != 200 || len(answer.Data) != 2 {
		t.Fatalf("got %d %.300s (%v)", got.Status, got.Body, err)
	}
	if n := len(answer.Data[0].Embedding); n == 0 || n != len(answer.Data[1].Embedding) || answer.Data[1].Index != 1 ||
		answer.Usage["prompt_tokens"].(float64) < 6 || answer.Usage["estimated"] != nil {
		t.Errorf("got %.300s", got.Body)
	}
	long := `{"model":"e","input":"` + strings.Repeat("dog ", 100) + `"}`
	harness.Do(t, http.MethodPost, p.base+"/v1/embeddings", long).Want(t, 400, "context_length_exceeded", "input")
	if got := harness.Do(t, http.MethodPost, p.base+"/v1/completions", `{"model":"e","prompt":"a"}`); got.Status != 400 {
		t.Errorf("it writes: %d %s", got.Status, got.Body)
	}
}
