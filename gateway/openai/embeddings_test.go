package openai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

func TestParseEmbeddings(t *testing.T) {
	for _, c := range []struct{ members, want string }{
		{`"input":"a"`, `1 ["a"]  0 false`},
		{`"input":["a","\u00e9"],"encoding_format":"base64"`, `2 ["a" "é"]  0 true`},
		{`"input":[1,2,3],"encoding_format":"float","dimensions":256.0`, `1 [] [1,2,3] 256 false`},
		{`"input":[[1,2],[3]],"user":"u","dimensions":null,"encoding_format":null,"unknown":{}`, `2 [] [[1,2],[3]] 0 false`},
	} {
		ask, err := ParseEmbeddings([]byte(`{"model":"m",` + c.members + `}`))
		if err != nil {
			t.Errorf("%s: %v", c.members, err)
			continue
		}
		r := &ask.Request
		if got := fmt.Sprintf("%d %q %s %d %v", r.N, r.Texts, r.Tokens, r.Dimensions, ask.Base64); got != c.want || ask.Model != "m" || r.Model != "m" {
			t.Errorf("%s: got %s, want %s", c.members, got, c.want)
		}
	}
}

func TestParseEmbeddingsRefuses(t *testing.T) {
	many := strings.Repeat(`"a",`, maxInputs)
	for _, c := range []struct{ body, param, code, message string }{
		{`{"input":"a"}`, "model", "missing_required_parameter", "Missing required parameter: 'model'."},
		{`{"model":"m"}`, "input", "missing_required_parameter", "Missing required parameter: 'input'."},
		{`{"model":"m","input":null}`, "input", "missing_required_parameter", "Missing required parameter: 'input'."},
		{`{"model":"m","input":""}`, "input", "invalid_value", "Invalid 'input': an input must not be empty."},
		{`{"model":"m","input":[]}`, "input", "empty_array", "Invalid 'input': empty array."},
		{`{"model":"m","input":["a",""]}`, "input[1]", "invalid_value", "Invalid 'input[1]': an input must not be empty."},
		{`{"model":"m","input":[[1],[]]}`, "input[1]", "invalid_value", "Invalid 'input[1]': an input must not be empty."},
		{`{"model":"m","input":["a",1]}`, "input[1]", "invalid_type", "Invalid type for 'input[1]'"},
		{`{"model":"m","input":[1,"a"]}`, "input[1]", "invalid_type", "Invalid type for 'input[1]'"},
		{`{"model":"m","input":[[1],2]}`, "input[1]", "invalid_type", "Invalid type for 'input[1]'"},
		{`{"model":"m","input":[[1,"a"]]}`, "input[0][1]", "invalid_type", "Invalid type for 'input[0][1]'"},
		{`{"model":"m","input":[{"text":"a"}]}`, "input[0]", "invalid_type", "Invalid type for 'input[0]'"},
		{`{"model":"m","input":[-1]}`, "input[0]", "invalid_value", "Invalid 'input[0]': expected a token id"},
		{`{"model":"m","input":{}}`, "input", "invalid_type", "Invalid type for 'input'"},
		{`{"model":"m","input":7}`, "input", "invalid_type", "Invalid type for 'input'"},
		{`{"model":"m","input":[` + many + `"a"]}`, "input", "invalid_value", "Invalid 'input': array too long."},
		{`{"model":"m","input":"a","encoding_format":"int8"}`, "encoding_format", "invalid_value", "Invalid value for 'encoding_format': 'int8'."},
		{`{"model":"m","input":"a","encoding_format":1}`, "encoding_format", "invalid_type", "Invalid type for 'encoding_format'"},
		{`{"model":"m","input":"a","dimensions":0}`, "dimensions", "invalid_value", "Invalid 'dimensions'"},
		{`{"model":"m","input":"a","dimensions":1.5}`, "dimensions", "invalid_type", "Invalid type for 'dimensions'"},
		{`{"model":"m","input":"a","user":1}`, "user", "invalid_type", "Invalid type for 'user'"},
		{`{"model":"m","input":"a","input":"b"}`, "input", "invalid_json", "Duplicate parameter: 'input'."},
		{`[`, "", "invalid_json", "We could not parse"},
	} {
		_, err := ParseEmbeddings([]byte(c.body))
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Status != 400 || e.Param != c.param || e.Code != c.code || !strings.HasPrefix(e.Message, c.message) {
			t.Errorf("%.80s: got %+v", c.body, err)
		}
	}
	if _, err := ParseEmbeddings([]byte(`{"model":"m","input":[` + strings.TrimSuffix(many, ",") + `]}`)); err != nil {
		t.Errorf("as many inputs as there may be: %v", err)
	}
}

func TestAppendEmbeddings(t *testing.T) {
	made := &llm.Embeddings{Vectors: [][]float32{{1, 0.1, -2.5e-7}, {math.MaxFloat32, 0, 1e6}}, PromptTokens: 4}
	ask := &EmbedAsk{Model: `na"me`}
	got := string(AppendEmbeddings(nil, ask, made))
	want := `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,0.1,-2.5e-07]},` +
		`{"object":"embedding","index":1,"embedding":[3.4028235e+38,0,1e+06]}],"model":"na\"me","usage":{"prompt_tokens":4,"total_tokens":4}}`
	if got != want || !json.Valid([]byte(got)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	ask.Base64, made.Estimated = true, true
	var answer struct {
		Data []struct{ Embedding string }
	}
	text := AppendEmbeddings(nil, ask, made)
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if !strings.HasSuffix(string(text), `"usage":{"prompt_tokens":4,"total_tokens":4,"estimated":true}}`) {
		t.Errorf("got %s", text)
	}
	for i, v := range made.Vectors {
		data, err := base64.StdEncoding.DecodeString(answer.Data[i].Embedding)
		if err != nil || len(data) != 4*len(v) {
			t.Fatalf("embedding %d: %q, %v", i, answer.Data[i].Embedding, err)
		}
		for j := range v {
			if x := math.Float32frombits(binary.LittleEndian.Uint32(data[4*j:])); x != v[j] {
				t.Errorf("embedding %d: number %d is %v, want %v", i, j, x, v[j])
			}
		}
	}
}

func FuzzParseEmbeddings(f *testing.F) {
	f.Add([]byte(`{"model":"m","input":["a",""],"dimensions":1}`))
	f.Add([]byte(`{"model":"m","input":[[1,2],[3]],"encoding_format":"base64"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		ask, err := ParseEmbeddings(body)
		if err != nil {
			if e, ok := errors.AsType[*llm.Error](err); !ok || e.Status != 400 {
				t.Errorf("got %v", err)
			}
			return
		}
		if r := ask.Request; r.N < 1 || r.Tokens == nil && len(r.Texts) != r.N || r.Tokens != nil && r.Texts != nil {
			t.Errorf("got %+v", r)
		}
	})
}
