package field

import (
	"encoding/json"
	"strings"
	"testing"

	"dragoman/test/harness"
)

// BC-004, BC-006: servers whose frames have no id, index or role.
func TestBC006ChunksOfTexts(t *testing.T) {
	eachText(t, func(_ string, write dialect, word [2]string) harness.Case {
		return harness.Case{Script: write(word[0], "one", " two"), Shape: "R C F=stop D", Text: "one two"}
	})
	harness.Play(t, harness.Case{
		Adapter: "llamacpp", Shape: "R C F=stop D", Text: "one two",
		Script: sse(`{"content":"one","stop":false}`, `{"content":" two","stop":false}`, `{"content":"","stop":true,"stop_type":"eos"}`),
	})
}

// BC-007: backends' own words for the end reached clients.
func TestBC007WordsOfTexts(t *testing.T) {
	eachText(t, func(_ string, write dialect, word [2]string) harness.Case {
		return harness.Case{Script: write(word[1], "Hi"), Shape: "R C F=length D", Text: "Hi"}
	})
	f := func(adapter, word, want string) {
		t.Helper()
		harness.Play(t, harness.Case{Adapter: adapter, Script: texts[adapter](word, "Hi"), Shape: "R C F=" + want + " D", Text: "Hi"})
	}
	f("llamacpp", "word", "stop")
	f("tgi", "stop_sequence", "stop")
	for _, adapter := range []string{"tgi", "llamacpp"} {
		f(adapter, "zzz", "stop")
	}
}

// BC-010, BC-012: counts come where the client asked for them.
func TestBC012UsageOfTexts(t *testing.T) {
	eachText(t, func(name string, write dialect, word [2]string) harness.Case {
		return harness.Case{
			Script: write(word[0], "Hi", " there"), Ask: `"stream_options":{"include_usage":true}`,
			Shape: "R C F=stop U D", Text: "Hi there",
			Check: func(t *testing.T, s *harness.Stream) {
				var u struct {
					Prompt     int  `json:"prompt_tokens"`
					Completion int  `json:"completion_tokens"`
					Estimated  bool `json:"estimated"`
				}
				if err := json.Unmarshal([]byte(s.Usage), &u); err != nil {
					t.Fatal(err)
				}
				if name == "kobold" { // which counts nothing
					if !u.Estimated {
						t.Errorf("usage %s", s.Usage)
					}
				} else if u.Estimated || u.Prompt != 7 || u.Completion < 2 || u.Completion > 3 {
					t.Errorf("usage %s", s.Usage)
				}
			},
		}
	})
}

// BC-016: a truncated answer passed as a whole one.
func TestBC016CutTexts(t *testing.T) {
	for _, end := range []string{"⟂", ""} { // a broken connection, a proper end without a reason
		eachText(t, func(_ string, write dialect, _ [2]string) harness.Case {
			return harness.Case{Script: write("", "To be", " or") + end, Shape: "R C E D", Text: "To be or", Status: 502}
		})
	}
	harness.Play(t, harness.Case{
		Adapter: "kobold", Options: "eof_is_finish: true", Script: kobold("", "To be", " or"), Shape: "R C F=stop D", Text: "To be or",
	})
}

// BC-016, BC-024: vLLM's demonstration server repeats prompt and text, and a
// line ends in LF or NUL.
func TestBC024VLLMDemo(t *testing.T) {
	f := func(end, tail, shape string, status int) {
		t.Helper()
		backend := harness.NewBackend(t, func(r harness.Received) harness.Reply {
			var body struct{ Prompt string }
			if err := json.Unmarshal([]byte(r.Body), &body); err != nil || body.Prompt == "" {
				t.Errorf("backend got %s", r.Body)
			}
			frame := func(text string) string { return `{"text":[` + quote(body.Prompt+text) + `]}` + end }
			return harness.Reply{Body: strings.ReplaceAll(frame("café"), "é", `\u00¦e9`) + frame("café au") + "¦" + frame("café au lait") + tail}
		})
		base := harness.Gateway(t, harness.Case{Adapter: "vllm"}.Config(backend.URL))
		for _, how := range harness.Deliveries {
			backend.Deliver(how)
			harness.Chat(t, base, `"stream":true`).Check(t, false).Want(t, shape, "café au lait")
		}
		backend.Deliver(harness.AsWritten)
		if got := harness.Chat(t, base, "").Status; got != status {
			t.Errorf("status %d, want %d", got, status)
		}
	}
	f("⏎", "", "R C F=stop D", 200)
	f("␀", "", "R C F=stop D", 200)
	f("⏎", "⟂", "R C E D", 502)
}

// BC-030: a token longer than a read buffer.
func TestBC030LongTexts(t *testing.T) {
	long := strings.Repeat("x", 300_000)
	harness.Play(t, harness.Case{Adapter: "llamacpp", Script: llamacpp("eos", long), Shape: "R C F=stop D", Text: long})
}

// BC-036, BC-038: repeated and blank tokens are text like any other.
func TestBC038BlanksOfTexts(t *testing.T) {
	for _, tokens := range [][]string{
		{"ha", "ha", "ha"},
		{" Hi", "  ", "\t", "\n", " ", "x", " "},
	} {
		eachText(t, func(_ string, write dialect, word [2]string) harness.Case {
			return harness.Case{Script: write(word[0], tokens...), Shape: "R C F=stop D", Text: strings.Join(tokens, "")}
		})
	}
}

// BC-039: TGI's end token, also where the server does not know that it is one.
func TestBC039EndToken(t *testing.T) {
	for _, special := range []string{"true", "false"} {
		harness.Play(t, harness.Case{
			Adapter: "tgi", Shape: "R C F=stop D", Text: "Hi",
			Script: sse(`{"token":{"text":"Hi","special":false},"generated_text":null}`,
				`{"token":{"text":"</s>","special":`+special+`},"generated_text":"Hi","details":{"finish_reason":"eos_token"}}`),
		})
	}
}

// BC-040, BC-043, BC-044, BC-046: servers that leave the stop string in the text.
func TestBC043StopStringsInTheText(t *testing.T) {
	f := func(stop, text string, tokens ...string) {
		t.Helper()
		shape := "R C F=stop D"
		if text == "" {
			shape = "R F=stop D"
		}
		eachText(t, func(_ string, write dialect, word [2]string) harness.Case {
			return harness.Case{Script: write(word[0], tokens...), Ask: `"stop":` + stop, Shape: shape, Text: text}
		})
	}
	f(`["<|im_end|>"]`, "Sure", "Sure", "<|im_", "end|>", "\n<|im_start|>user")
	f(`["\n"]`, " Mars?", " Mars", "?\n")
	f(`["TRE\nAAAA"]`, "UNO TRE", "UNO ", "TRE")
	f(`["Hello"]`, "", "Hello there")
	f(`"x"`, "ab", "a", "b")
	harness.Play(t, harness.Case{
		Adapter: "tgi", Script: tgi("", "UNO ", "TRE") + sse(`{"error":"boom","error_type":"generation"}`), Ask: `"stop":["TRE\nAAAA"]`,
		Shape: "R C E D", Text: "UNO TRE", Status: 502,
	})
}

// BC-043: KoboldCpp reports a stop string as length; it is left in the text.
func TestBC043KoboldStopString(t *testing.T) {
	harness.Play(t, harness.Case{
		Adapter: "kobold", Script: kobold("length", " Mars", "?\n"), Ask: `"stop":["\n"]`, Shape: "R C F=stop D", Text: " Mars?",
	})
}

// BC-065: what llama-server says of a prompt that is too long.
func TestBC065TooLong(t *testing.T) {
	const refusal = `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}`
	backend := harness.NewBackend(t, func(harness.Received) harness.Reply {
		return harness.Reply{Status: 400, Header: map[string]string{"Content-Type": "application/json"}, Body: refusal}
	})
	base := harness.Gateway(t, harness.Case{Adapter: "llamacpp"}.Config(backend.URL))
	for _, ask := range []string{"", `"stream":true`} {
		harness.Chat(t, base, ask).Want(t, 400, "context_length_exceeded", "messages")
	}
	harness.Play(t, harness.Case{Adapter: "llamacpp", Script: sse(refusal), Shape: "HTTP 400", Status: 400})
}

// BC-091, BC-092: llama-server is asked for its template; exactly one BOS.
func TestBC092TemplateOfTheServer(t *testing.T) {
	const template = `{{ bos_token }}{%- if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}` +
		`{%- for m in messages %}{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}{{ m['role'] + ': ' + m['content'] + '\n' }}{% endfor %}{{ 'model: ' }}`
	backend := harness.NewBackend(t, func(r harness.Received) harness.Reply {
		switch path, _, _ := strings.Cut(r.Path, "?"); path {
		case "/props":
			return harness.Reply{Unframed: true, Body: `{"chat_template":` + quote(template) + `,"bos_token":"<s>","eos_token":"</s>"}`}
		case "/tokenize":
			return harness.Reply{Unframed: true, Body: `{"tokens":[1,1]}`}
		}
		return harness.Reply{Body: llamacpp("eos", "ok")}
	})
	base := harness.Gateway(t, `models: {m: {adapter: llamacpp, url: "`+backend.URL+`"}}`)
	f := func(messages, prompt string) {
		t.Helper()
		answer := harness.Do(t, "POST", base+"/v1/chat/completions", `{"model":"m","messages":`+messages+`}`)
		if got := answer.Content(t); got != "ok" {
			t.Errorf("got %q", got)
		}
		for backend.Requests() > 1 {
			backend.Request()
		}
		if got := backend.Request().Body; !strings.Contains(got, `"prompt":`+quote(prompt)) {
			t.Errorf("backend got %s, want the prompt %q", got, prompt)
		}
	}
	f(`[{"role":"user","content":"UUU"}]`, "user: UUU\nmodel: ")
	f(`[{"role":"system","content":"SSS"},{"role":"user","content":"UUU"}]`, "user: SSS\n\nUUU\nmodel: ")
	f(`[{"role":"user","content":"AAA"},{"role":"user","content":"BBB"}]`, "user: AAA\n\nBBB\nmodel: ")
}
