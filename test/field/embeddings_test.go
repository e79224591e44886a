package field

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"dragoman/engine/enginetest"
	"dragoman/engine/fakellama"
	"dragoman/test/harness"
)

// embed asks base for embeddings; members follow the model's name.
func embed(t *testing.T, base, members string) harness.Answer {
	t.Helper()
	return harness.Do(t, http.MethodPost, base+"/v1/embeddings", `{"model":"m",`+members+`}`)
}

// wants fails the test unless the gateway answered so.
func wants(t *testing.T, got harness.Answer, status int, body string) {
	t.Helper()
	if got.Status != status || string(got.Body) != body {
		t.Errorf("got  %d %s\nwant %d %s", got.Status, got.Body, status, body)
	}
}

const twoEmbeddings = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,0.1]},{"object":"embedding","index":1,"embedding":[0.5,-1]}],` +
	`"model":"m","usage":{"prompt_tokens":5,"total_tokens":5}}`

func TestEmbeddings(t *testing.T) {
	backend := harness.NewBackend(t, func(harness.Received) harness.Reply {
		return harness.Reply{Body: `{"object":"list","data":[{"index":0,"embedding":[1.0,1e-1]},{"index":1,"embedding":[0.5,-1]}],"model":"real","usage":{"prompt_tokens":5,"total_tokens":5}}`}
	})
	base, log := harness.GatewayWithLog(t, fmt.Sprintf("models: {m: {adapter: openai, url: %q, model: real}}", backend.URL))
	wants(t, embed(t, base, `"input":["a","b"]`), 200, twoEmbeddings)
	if got := backend.Request(); got.Path != "/v1/embeddings" || got.Body != `{"model":"real","input":["a","b"],"encoding_format":"float"}` {
		t.Errorf("the backend got %s %s", got.Path, got.Body)
	}
	if line := log.Wait(t, "path=/v1/embeddings status=200"); !strings.Contains(line, "model=m backend=m") {
		t.Errorf("the log says %s", line)
	}

	for _, path := range []string{"/embeddings", "/v1/embeddings/", "//v1//embeddings", "/v1/v1/embeddings"} {
		wants(t, harness.Do(t, http.MethodPost, base+path, `{"model":"m","input":["a","b"]}`), 200, twoEmbeddings)
	}
	if got := embed(t, base, `"input":[[1],[2]],"encoding_format":"base64"`); got.Status != 200 || !strings.Contains(string(got.Body), `"embedding":"AACAP83MzD0="`) {
		t.Errorf("base64: %d %s", got.Status, got.Body)
	}
	if got := harness.Do(t, http.MethodGet, base+"/v1/embeddings", ""); got.Status != 405 || got.Header.Get("Allow") != "POST" {
		t.Errorf("GET: %d %s", got.Status, got.Body)
	}
	wants(t, embed(t, base, `"input":["a",""]`), 400, `{"error":{"message":"Invalid 'input[1]': an input must not be empty.","type":"invalid_request_error","param":"input[1]","code":"invalid_value"}}`)
}

// Dimensions that the model has anyway are no wish; others are one that the
// backend has not granted.
func TestEmbeddingsDimensions(t *testing.T) {
	backend := harness.Script(t, `{"data":[{"index":0,"embedding":[1,0.1]}],"usage":{"prompt_tokens":5}}`)
	base := harness.Gateway(t, fmt.Sprintf(`
models:
  m: {adapter: openai, url: %q}
  dropping: {adapter: openai, url: %[1]q, drop: [dimensions, user]}
`, backend.URL))
	if got := embed(t, base, `"input":"a","dimensions":2`); got.Status != 200 {
		t.Errorf("got %d %s", got.Status, got.Body)
	}
	wants(t, embed(t, base, `"input":"a","dimensions":3`), 400,
		`{"error":{"message":"'dimensions' is not supported with this model, whose embeddings have 2.","type":"invalid_request_error","param":"dimensions","code":"unsupported_parameter"}}`)
	backend.Request()
	if got := backend.Request().Body; !strings.Contains(got, `"dimensions":3`) {
		t.Errorf("the backend got %s", got)
	}
	got := harness.Do(t, http.MethodPost, base+"/v1/embeddings", `{"model":"dropping","input":"a","dimensions":3,"user":"u","x":1}`)
	if sent := backend.Request().Body; got.Status != 200 || sent != `{"model":"dropping","input":["a"],"encoding_format":"float","x":1}` {
		t.Errorf("got %d, the backend got %s", got.Status, sent)
	}
}

func TestEmbeddingsThatABackendCannotDo(t *testing.T) {
	base := harness.Gateway(t, `models: {m: {adapter: ollama, url: "`+harness.Refusing+`"}, text: {adapter: tgi, url: "`+harness.Refusing+`", template: chatml}}`)
	wants(t, embed(t, base, `"input":[1,2,3]`), 400,
		`{"error":{"message":"Invalid 'input': token ids are not supported with this model. Send text (LangChain: check_embedding_ctx_length=False).",`+
			`"type":"invalid_request_error","param":"input","code":"unsupported_value"}}`)
	wants(t, harness.Do(t, http.MethodPost, base+"/v1/embeddings", `{"model":"text","input":"a"}`), 400,
		`{"error":{"message":"The model 'text' gives no embeddings.","type":"invalid_request_error","param":"model","code":"unsupported_value"}}`)
}

func TestEmbeddingsFailOver(t *testing.T) {
	bad := harness.NewBackend(t, func(harness.Received) harness.Reply { return harness.Reply{Status: 500, Body: `{"detail":"boom"}`} })
	lacking := harness.NewBackend(t, func(harness.Received) harness.Reply {
		return harness.Reply{Status: 404, Body: `{"detail":"Not Found"}`}
	})
	good := harness.Script(t, `{"embedding":[[1,0.1],[0.5,-1]],"token_num":5}`)
	base := harness.Gateway(t, fmt.Sprintf(`
models:
  m:
    backends:
      - {adapter: openai, url: %q, weight: 3}
      - {adapter: openai, url: %q, weight: 2}
      - {adapter: fastchat, url: %q, weight: 0}
`, bad.URL, lacking.URL, good.URL))
	for range 3 {
		wants(t, embed(t, base, `"input":["a","b"]`), 200, twoEmbeddings)
	}
	if bad.Requests() != 1 || lacking.Requests() != 3 {
		t.Errorf("the bad one got %d requests, the one without the route %d", bad.Requests(), lacking.Requests())
	}
}

func TestEmbeddingsErrors(t *testing.T) {
	reply := harness.Reply{}
	backend := harness.NewBackend(t, func(harness.Received) harness.Reply { return reply })
	base := harness.Gateway(t, fmt.Sprintf("models: {m: {adapter: openai, url: %q}}", backend.URL))
	for _, c := range []struct {
		reply harness.Reply
		want  int
		words string
	}{
		{harness.Reply{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8 tokens.","code":"context_length_exceeded"}}`}, 400, `"param":"input","code":"context_length_exceeded"`},
		{harness.Reply{Status: 429, Header: map[string]string{"Retry-After": "7"}, Body: `{"error":{"message":"slow down"}}`}, 429, "slow down"},
		{harness.Reply{Body: `{"data":[]}`}, 502, "answered 1 inputs with 0 embeddings"},
		{harness.Reply{Body: `{"data":[{"embedding":[1`}, 502, "not its protocol"},
		{harness.Reply{Body: `<html>`}, 502, "not its protocol"},
		{harness.Reply{Body: strings.Repeat("[", 100000)}, 502, "not its protocol"},
	} {
		reply = c.reply
		got := embed(t, base, `"input":"a"`)
		if got.Status != c.want || !strings.Contains(string(got.Body), c.words) || !json.Valid(got.Body) || got.Header.Get("Retry-After") != c.reply.Header["Retry-After"] {
			t.Errorf("%.80s: got %d %s", c.reply.Body, got.Status, got.Body)
		}
	}
}

// A client that leaves takes its request along, before any answer.
func TestEmbeddingsOfAClientThatLeaves(t *testing.T) {
	backend := harness.Script(t, "⏸")
	base := harness.Gateway(t, fmt.Sprintf("models: {m: {adapter: ollama, url: %q, max_concurrent: 1}}", backend.URL))
	for range 2 { // the second needs the slot of the first
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/embeddings", strings.NewReader(`{"model":"m","input":"a"}`))
			if err == nil {
				_, err = http.DefaultClient.Do(req)
			}
			left <- err
		}()
		got := backend.Request()
		cancel()
		wantGone(t, got)
		if err := <-left; err == nil {
			t.Error("there was an answer")
		}
	}
}

// The engine's embeddings, of length 1, in both forms.
func TestEmbeddingsOfAnEngine(t *testing.T) {
	url := enginetest.NewEmbedder(t, &fakellama.Model{}, enginetest.Options{Context: 16}).URL
	base := harness.Gateway(t, fmt.Sprintf("models: {m: {adapter: native, url: %q, model: fake}}", url))
	read := func(members string, into any) {
		t.Helper()
		got := embed(t, base, `"input":["abc","<s>"]`+members)
		if err := json.Unmarshal(got.Body, &struct{ Data any }{into}); err != nil || got.Status != 200 || !strings.Contains(string(got.Body), `"usage":{"prompt_tokens":10,"total_tokens":10}}`) {
			t.Fatalf("got %d %s (%v)", got.Status, got.Body, err)
		}
	}
	var numbers []struct{ Embedding []float32 }
	var packed []struct{ Embedding []byte }
	read("", &numbers)
	read(`,"encoding_format":"base64"`, &packed)
	for i, n := range numbers {
		if len(n.Embedding) != 3 || len(packed[i].Embedding) != 12 {
			t.Fatalf("got %v and %v", numbers, packed)
		}
		sum := 0.0
		for j, x := range n.Embedding {
			sum += float64(x) * float64(x)
			if y := math.Float32frombits(binary.LittleEndian.Uint32(packed[i].Embedding[4*j:])); x != y {
				t.Errorf("number %d is %v and, in base64, %v", j, x, y)
			}
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Errorf("the length of embedding %d is %v", i, sum)
		}
	}
	embed(t, base, `"input":["a","`+strings.Repeat("x", 20)+`"]`).Want(t, 400, "context_length_exceeded", "input")
	if e := harness.Chat(t, base, "").Error(t); !strings.Contains(e.Message, "embeddings") {
		t.Errorf("a chat: %+v", e)
	}
}
