package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

// RunEmbeddings tests how a asks for embeddings and reads them, with the cases in
// dir:
//
//	NAME.request.json  the client's request
//	NAME.answer.json   what the backend answers to each call
//	NAME.golden.txt    golden: the calls, then the embeddings or the error
//
// An answer that is cut anywhere must be an error.
func RunEmbeddings(t *testing.T, a adapters.Adapter, dir string) {
	requests, err := filepath.Glob(filepath.Join(dir, "*.request.json"))
	if err != nil || len(requests) == 0 {
		t.Fatalf("no *.request.json in %s (%v)", dir, err)
	}
	for _, path := range requests {
		base := strings.TrimSuffix(path, ".request.json")
		t.Run(filepath.Base(base), func(t *testing.T) {
			body, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := os.ReadFile(base + ".answer.json")
			if err != nil {
				t.Fatal(err)
			}
			req := parseEmbedRequest(t, body)
			golden(t, base+".golden.txt", embedOutcome(t, a, req, answer))
			e := a.(adapters.Embedder)
			answer = []byte(strings.TrimSpace(string(answer)))
			for n := range answer {
				if _, err := e.ReadEmbeddings(req, answer[:n]); err == nil {
					t.Errorf("an answer that is cut off at byte %d passes", n)
				}
			}
		})
	}
}

// embedOutcome plays the backend, and returns what it was asked and what came of it.
func embedOutcome(t *testing.T, a adapters.Adapter, req *llm.EmbedRequest, answer []byte) string {
	t.Helper()
	var out strings.Builder
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !json.Valid(body) {
			t.Errorf("the call's body %q, error %v", body, err)
		}
		fmt.Fprintf(&out, "%s %s\n%s\n\n", r.Method, r.URL.RequestURI(), body)
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	up := &stream.Upstream{URL: server.URL, Client: server.Client()}
	made, err := stream.Embed(context.Background(), up, a.(adapters.Embedder), a.Traits().EmbedBatch, req)
	if e := (*llm.Error)(nil); errors.As(err, &e) {
		fmt.Fprintf(&out, "error %d %s %q: %s\n", e.Status, e.Code, e.Param, e.Message)
		return out.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range made.Vectors {
		fmt.Fprintln(&out, i, v)
	}
	fmt.Fprintf(&out, "prompt_tokens %d", made.PromptTokens)
	if made.Estimated {
		out.WriteString(", estimated")
	}
	return out.String() + "\n"
}

// parseEmbedRequest reads a request in its plainest form, see parseRequest.
func parseEmbedRequest(t *testing.T, body []byte) *llm.EmbedRequest {
	t.Helper()
	var in struct {
		Model      string
		Input      json.RawMessage
		Dimensions int
	}
	if err := json.Unmarshal(body, &in); err != nil {
		t.Fatalf("request: %v", err)
	}
	members, err := jsonscan.Members(body, 128)
	if err != nil {
		t.Fatalf("request: %v", err)
	}
	req := &llm.EmbedRequest{Model: in.Model, Dimensions: in.Dimensions, Raw: body, Members: members, N: 1}
	text, list := "", [][]int{}
	switch {
	case json.Unmarshal(in.Input, &text) == nil:
		req.Texts = []string{text}
	case json.Unmarshal(in.Input, &req.Texts) == nil:
		req.N = len(req.Texts)
	default:
		req.Texts, req.Tokens = nil, in.Input
		if json.Unmarshal(in.Input, &list) == nil {
			req.N = len(list)
		}
	}
	return req
}
