package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dragoman/engine/enginetest"
	"dragoman/engine/fakellama"
	"dragoman/engine/serve"
)

// answer is an HTTP answer, read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

// do may be called from any goroutine.
func do(t *testing.T, method, url, body string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return answer{}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return answer{}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return answer{resp.StatusCode, resp.Header, string(data)}
}

func start(t *testing.T, reply func(string) string, o enginetest.Options) *httptest.Server {
	t.Helper()
	return enginetest.New(t, &fakellama.Model{Reply: reply}, o)
}

func TestRoutes(t *testing.T) {
	url := start(t, nil, enginetest.Options{}).URL
	f := func(method, path, body string, status int, want string) {
		t.Helper()
		got := do(t, method, url+path, body)
		if got.status != status || got.body != want+"\n" || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %s:\n got %d %s (%s)\nwant %d %s", method, path, body, got.status, got.body, got.header.Get("Content-Type"), status, want)
		}
	}
	f("GET", "/health", "", 200, `{"status":"ok"}`)
	f("POST", "/health", "", 405, `{"error":{"code":"method_not_allowed","message":"/health takes GET."}}`)
	f("GET", "/generate", "", 405, `{"error":{"code":"method_not_allowed","message":"/generate takes POST."}}`)
	f("GET", "/", "", 404, `{"error":{"code":"not_found","message":"There is no / here."}}`)
	f("POST", "/v1/chat", "{}", 404, `{"error":{"code":"not_found","message":"There is no /v1/chat here."}}`)
	f("POST", "/tokenize", `{"prompt":[{"text":"<s>hi","special":true},{"text":"<s>","x":1}],"x":[]}`, 200, `{"tokens":[256,104,105,60,115,62],"count":6}`)
	f("POST", "/tokenize", `{}`, 200, `{"tokens":[256],"count":1}`)
	f("POST", "/tokenize", `{"prompt":"hi"}`, 400, `{"error":{"code":"invalid_request","message":"prompt has the wrong type or size: string."}}`)
	if got := do(t, "DELETE", url+"/props", ""); got.header.Get("Allow") != "GET" {
		t.Errorf("405 without Allow: %v", got.header)
	}
}

func TestProps(t *testing.T) {
	o := enginetest.Options{Context: 77, Parallel: 2}
	got := do(t, "GET", start(t, nil, o).URL+"/props", "")
	want := `{"protocol":1,"model":"fake","n_ctx":77,"n_ctx_train":77,"chat_template":"{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",` +
		`"bos_token":"<s>","eos_token":"</s>","add_bos":true,"special_tokens":["<s>","</s>","<|im_start|>","<|im_end|>"],"parallel":2,"llama":"fake"}` + "\n"
	if got.body != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
}

// BOS comes once: llama.cpp's own rule, remove only what would be added twice (BC-091).
func TestBC091(t *testing.T) {
	tokens := func(o enginetest.Options, prompt string) string {
		got := do(t, "POST", start(t, nil, o).URL+"/tokenize", `{"prompt":[`+prompt+`]}`)
		var body struct{ Tokens json.RawMessage }
		if err := json.Unmarshal([]byte(got.body), &body); err != nil {
			t.Fatal(err)
		}
		return string(body.Tokens)
	}
	f := func(name string, o enginetest.Options, prompt, want string) {
		t.Helper()
		if got := tokens(o, prompt); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	noBOS := enginetest.Options{NoBOS: true}
	f("template brings BOS, model adds", enginetest.Options{}, `{"text":"<s>x","special":true}`, "[256,120]")
	f("template brings BOS, model does not add", noBOS, `{"text":"<s>x","special":true}`, "[256,120]")
	f("template without BOS, model adds", enginetest.Options{}, `{"text":"x","special":true}`, "[256,120]")
	f("template without BOS, model does not add", noBOS, `{"text":"x","special":true}`, "[120]")
	f("the letters <s> are text", enginetest.Options{}, `{"text":"<s>x"}`, "[256,60,115,62,120]")
	f("nothing at all", noBOS, ``, "[]")
}

func TestGenerate(t *testing.T) {
	f := func(name, reply, body, want string) {
		t.Helper()
		url := start(t, func(string) string { return reply }, enginetest.Options{Context: 40}).URL
		got := do(t, "POST", url+"/generate", body)
		lines := strings.SplitAfter(got.body, "\n")
		last := lines[len(lines)-2]
		if i := strings.Index(last, `,"timings":{"queue_ms":`); i < 0 || !strings.Contains(last, `"prompt_ms":`) || !strings.HasSuffix(last, "}}\n") {
			t.Errorf("%s: no timings in %s", name, last)
		} else {
			lines[len(lines)-2] = last[:i] + "}\n"
		}
		if all := strings.Join(lines, ""); got.status != 200 || all != want || got.header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%s: got %d %s\n%s\nwant\n%s", name, got.status, got.header.Get("Content-Type"), all, want)
		}
	}
	const hi = `{"prompt":[{"text":"hi"}]`
	f("text", "ok", hi+`}`, `{"id":111,"text":"o"}
{"id":107,"text":"k"}
{"done":"stop","reason":"eos","prompt_tokens":3,"completion_tokens":2}
`)
	f("a cut character", "é", hi+`}`, `{"id":195,"bytes":"ww=="}
{"id":169,"bytes":"qQ=="}
{"done":"stop","reason":"eos","prompt_tokens":3,"completion_tokens":2}
`)
	f("escapes", "\"\\\n\x00<", hi+`,"max_tokens":-1}`, `{"id":34,"text":"\""}
{"id":92,"text":"\\"}
{"id":10,"text":"\n"}
{"id":0,"text":"\u0000"}
{"id":60,"text":"<"}
{"done":"stop","reason":"eos","prompt_tokens":3,"completion_tokens":5}
`)
	f("max_tokens", "okay", hi+`,"max_tokens":1}`, `{"id":111,"text":"o"}
{"done":"length","reason":"max_tokens","prompt_tokens":3,"completion_tokens":1}
`)
	f("stop_token_ids", "okay", hi+`,"stop_token_ids":[1,107]}`, `{"id":111,"text":"o"}
{"done":"stop","reason":"stop_token","prompt_tokens":3,"completion_tokens":1}
`)
	f("the context is full", "okay", `{"prompt":[{"text":"`+strings.Repeat("x", 38)+`"}]}`, `{"id":111,"text":"o"}
{"done":"length","reason":"context","prompt_tokens":39,"completion_tokens":1}
`)
	f("nothing to say", "", hi+`,"temperature":null,"seed":-5,"top_k":-1,"unknown":{"a":[]}}`, `{"done":"stop","reason":"eos","prompt_tokens":3,"completion_tokens":0}
`)
}

func TestRefusals(t *testing.T) {
	url := start(t, nil, enginetest.Options{Context: 40, NoBOS: true}).URL
	f := func(body string, status int, want string) {
		t.Helper()
		got := do(t, "POST", url+"/generate", body)
		if got.status != status || !strings.HasPrefix(got.body, `{"error":{"code":"`+want) {
			t.Errorf("%.80s: got %d %s, want %d %s", body, got.status, got.body, status, want)
		}
	}
	bad := func(members string) {
		t.Helper()
		f(`{"prompt":[{"text":"hi"}],`+members+`}`, 400, `invalid_request","message":"`)
	}
	long := func(n int) string { return `{"prompt":[{"text":"` + strings.Repeat("x", n) + `"}]}` }
	f(long(51), 400, `context_length_exceeded","message":"This model's maximum context length is 40 tokens. However, your prompt has 51 tokens.","n_ctx":40,"prompt_tokens":51}}`)
	f(long(40), 400, `context_length_exceeded","message":"This model's maximum context length is 40 tokens. However, your prompt has 40 tokens. The answer needs at least one.","n_ctx":40,"prompt_tokens":40}}`)
	f(``, 400, `invalid_request","message":"The body is not JSON: `)
	f(`[]`, 400, `invalid_request","message":"the body has the wrong type or size: array."}}`)
	f(`{}`, 400, `invalid_request","message":"prompt is missing`)
	f(`{"prompt":[]}`, 400, `invalid_request","message":"prompt is missing`)
	f(`{"prompt":[{"text":""}]}`, 400, `invalid_request","message":"The prompt is empty."}}`)
	f(`{"prompt":["hi"]}`, 400, `invalid_request`)
	f(`{"prompt":[{"text":1}]}`, 400, `invalid_request`)
	f(long(serve.MaxBody), 413, `request_too_large`)
	for _, m := range []string{
		`"max_tokens":0`, `"max_tokens":-2`, `"max_tokens":1.5`, `"max_tokens":"9"`, `"max_tokens":99999999999999999999`,
		`"temperature":-0.1`, `"temperature":"hot"`, `"temperature":1e999`, `"top_p":1.1`, `"top_p":-0.1`, `"min_p":2`, `"min_p":-1`,
		`"top_k":-2`, `"top_k":1.5`, `"seed":1.5`, `"seed":"7"`, `"stop_token_ids":7`, `"stop_token_ids":["a"]`, `"stop_token_ids":[1.5]`,
	} {
		bad(m)
	}
}

func FuzzGenerate(f *testing.F) {
	for _, s := range []string{
		`{"prompt":[{"text":"<s>hi","special":true}],"max_tokens":3,"temperature":0.5,"top_k":3,"top_p":0.5,"min_p":0.1,"seed":-7,"stop_token_ids":[1]}`,
		`{"prompt":[{"text":"\u0000\ud800"}]}`, `{"prompt":null}`, `[[[[`, `{"prompt":[{"special":true}]}`,
	} {
		f.Add(s)
	}
	m := &fakellama.Model{Reply: func(p string) string { return p }}
	srv := enginetest.New(f, m, enginetest.Options{Context: 64})
	f.Fuzz(func(t *testing.T, body string) {
		got := do(t, "POST", srv.URL+"/generate", body)
		if got.status != 200 && got.status != 400 {
			t.Fatalf("status %d: %s", got.status, got.body)
		}
		for line := range strings.Lines(got.body) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("not JSON: %q", line)
			}
		}
		if got.status == 200 && !strings.Contains(got.body, `{"done":"`) {
			t.Fatalf("no last line: %s", got.body)
		}
	})
}
