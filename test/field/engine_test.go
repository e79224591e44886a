package field

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"

	"dragoman/engine/enginetest"
	"dragoman/engine/fakellama"
	"dragoman/engine/sched"
	"dragoman/test/harness"
)

// engine starts a gateway before an engine whose model is a fake, with the chat
// template that the engine tells, and returns the gateway's URL.
func engine(t *testing.T, m *fakellama.Model, o enginetest.Options) string {
	t.Helper()
	return harness.Gateway(t, fmt.Sprintf("models: {m: {adapter: native, url: %q}}\n", enginetest.New(t, m, o).URL))
}

// replies is a model with one answer.
func replies(text string) *fakellama.Model {
	return &fakellama.Model{Reply: func(string) string { return text }}
}

// wavering is a model that always likes a best, then b, c and the end.
func wavering() *fakellama.Model {
	return &fakellama.Model{Weigh: func(_ []int32, logits []float32) {
		for i := range logits {
			logits[i] = -1000
		}
		logits['a'], logits['b'], logits['c'], logits[fakellama.EOS] = 3, 2, 1, 0
	}}
}

func content(a harness.Answer) string {
	return gjson.GetBytes(a.Body, "choices.0.message.content").String()
}

func TestEngineStructuredOutput(t *testing.T) {
	m := wavering()
	m.Weigh = func(tokens []int32, logits []float32) {
		logits[(len(tokens)*7)%200+32], logits['"'], logits['}'] = 9, 8, 5
	}
	base := engine(t, m, enginetest.Options{})
	const schema = `{"type":"object","properties":{"name":{"type":"string","maxLength":5},"age":{"type":"integer","minimum":0,"maximum":9}},"required":["name","age"],"additionalProperties":false}`
	format := `"response_format":{"type":"json_schema","json_schema":{"name":"person","strict":true,"schema":` + schema + `}}`
	a := harness.Chat(t, base, `"max_tokens":200,"temperature":2,`+format)
	var person struct {
		Name *string
		Age  *int
	}
	if err := json.Unmarshal([]byte(content(a)), &person); err != nil || person.Name == nil || person.Age == nil || *person.Age > 9 ||
		gjson.GetBytes(a.Body, "choices.0.finish_reason").String() != "stop" {
		t.Errorf("%v in %s", err, a.Body)
	}
	// A stream says the same in pieces.
	var text string
	for _, f := range harness.Chat(t, base, `"stream":true,"max_tokens":200,"temperature":0,`+format).Frames(t) {
		text += gjson.Get(f, "choices.0.delta.content").String()
	}
	if err := json.Unmarshal([]byte(text), &person); err != nil {
		t.Errorf("%v in %q", err, text)
	}
	a = harness.Chat(t, base, `"max_tokens":3,"response_format":{"type":"json_object"}`)
	if text := content(a); !strings.HasPrefix(text, "{") || gjson.GetBytes(a.Body, "choices.0.finish_reason").String() != "length" {
		t.Errorf("json_object: %s", a.Body)
	}
}

func TestEngineRefusesSchemasItCannotKeep(t *testing.T) {
	base := engine(t, replies("{}"), enginetest.Options{})
	f := func(schema, param, message string) {
		t.Helper()
		for _, stream := range []string{"", `"stream":true,`} {
			a := harness.Chat(t, base, stream+`"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":`+schema+`}}`)
			if a.Status != 400 || *a.Error(t).Param != param || a.Error(t).Type != "invalid_request_error" || a.Error(t).Message != message {
				t.Errorf("%s: got %d %s", schema, a.Status, a.Body)
			}
		}
	}
	f(`{"type":"object","properties":{"a":{"type":"array","uniqueItems":true}}}`, "response_format.json_schema.schema.properties.a.uniqueItems",
		"Invalid schema: properties.a.uniqueItems: it cannot be enforced.")
	f(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, "response_format.json_schema.schema", "Invalid schema: no document fits it.")
	f(`{"properties":{"a b":false}}`, "response_format.json_schema.schema", "Invalid schema: properties.a b: nothing fits false.")
}

func TestEnginePenaltiesAndBiases(t *testing.T) {
	base := engine(t, wavering(), enginetest.Options{NoBOS: true})
	f := func(extra, want string) {
		t.Helper()
		a := harness.Chat(t, base, `"temperature":0,"max_tokens":4,`+extra)
		if a.Status != 200 || content(a) != want {
			t.Errorf("%s: got %d %s, want %s", extra, a.Status, a.Body, want)
		}
	}
	f(`"presence_penalty":0`, "aaaa")
	f(`"presence_penalty":1.5`, "abaa")
	f(`"frequency_penalty":0.6`, "aaba")
	f(`"logit_bias":{"97":-100}`, "bbbb")
	f(`"logit_bias":{"257":100}`, "")
	f(`"logit_bias":{"257":100},"min_tokens":3`, "aaa")
	a := harness.Chat(t, base, `"logit_bias":{"5000":1}`)
	if a.Status != 400 || *a.Error(t).Param != "logit_bias" {
		t.Errorf("a token that is none: %d %s", a.Status, a.Body)
	}
}

// BC-062: explicit zeros are kept, and mean what they say.
func TestBC062EngineZeros(t *testing.T) {
	base := engine(t, wavering(), enginetest.Options{})
	for _, zeros := range []string{`"temperature":0`, `"temperature":2,"top_p":0`, `"temperature":0,"top_p":0,"seed":0,"presence_penalty":0,"top_k":0`} {
		if a := harness.Chat(t, base, `"max_tokens":5,`+zeros); content(a) != "aaaaa" {
			t.Errorf("%s: got %s", zeros, a.Body)
		}
	}
	letters := map[rune]bool{}
	for seed := range 10 {
		for _, c := range content(harness.Chat(t, base, fmt.Sprintf(`"max_tokens":20,"temperature":2,"top_k":0,"seed":%d`, seed))) {
			letters[c] = true
		}
	}
	if !letters['a'] || !letters['b'] || !letters['c'] {
		t.Errorf("top_k 0 is no limit, and yet only %v came", letters)
	}
}

// BC-060: the engine bounds what is asked for by its context.
func TestBC060EngineMaxTokens(t *testing.T) {
	base := engine(t, wavering(), enginetest.Options{Context: 100})
	for _, limit := range []string{`"max_tokens":1000000000000`, `"max_tokens":-1`, `"max_completion_tokens":1000000000000`} {
		a := harness.Chat(t, base, `"temperature":0,`+limit)
		u := gjson.GetBytes(a.Body, "usage")
		if a.Status != 200 || u.Get("total_tokens").Int() != 100 || gjson.GetBytes(a.Body, "choices.0.finish_reason").String() != "length" {
			t.Errorf("%s: got %d %s", limit, a.Status, a.Body)
		}
	}
}

// BC-063: all parts of a content, of all roles, come in order.
func TestBC063EngineParts(t *testing.T) {
	var prompts []string
	m := &fakellama.Model{Reply: func(p string) string {
		prompts = append(prompts, p)
		return "ok"
	}}
	base := engine(t, m, enginetest.Options{})
	a := harness.Do(t, "POST", base+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"AAA"},{"type":"text","text":"BBB"}]},
		{"role":"assistant","content":[{"type":"text","text":"CCC"}]},{"role":"user","content":"DDD"}]}`)
	want := "<s><|im_start|>user\nAAABBB<|im_end|>\n<|im_start|>assistant\nCCC<|im_end|>\n<|im_start|>user\nDDD<|im_end|>\n<|im_start|>assistant\n"
	if content(a) != "ok" || len(prompts) != 1 || prompts[0] != want {
		t.Errorf("got %s after %q", a.Body, prompts)
	}
	a = harness.Do(t, "POST", base+"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,"}}]}]}`)
	if a.Status != 400 {
		t.Errorf("an image: %d %s", a.Status, a.Body)
	}
}

// BC-065: what does not fit is a 400 before the stream, and what stops fitting
// is a length.
func TestBC065EngineOverflow(t *testing.T) {
	base := engine(t, replies(strings.Repeat("x", 500)), enginetest.Options{Context: 100})
	a := harness.Do(t, "POST", base+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"`+strings.Repeat("y", 200)+`"}]}`)
	if a.Status != 400 || *a.Error(t).Code != "context_length_exceeded" || !strings.Contains(a.Error(t).Message, "maximum context length is 100 tokens") {
		t.Errorf("too long: %d %s", a.Status, a.Body)
	}
	a = harness.Chat(t, base, "")
	if gjson.GetBytes(a.Body, "choices.0.finish_reason").String() != "length" || content(a) == "" {
		t.Errorf("it fills up: %s", a.Body)
	}
}

func TestEngineLogprobs(t *testing.T) {
	base := engine(t, wavering(), enginetest.Options{})
	a := harness.Chat(t, base, `"temperature":0,"max_tokens":2,"logprobs":true,"top_logprobs":4,"frequency_penalty":2`)
	p := func(x float64) float64 { return x - math.Log(math.Exp(3)+math.Exp(2)+math.Exp(1)+1) }
	for i, want := range []struct {
		token   string
		logprob float64
	}{{"a", p(3)}, {"b", p(2)}} {
		l := gjson.GetBytes(a.Body, fmt.Sprintf("choices.0.logprobs.content.%d", i))
		if l.Get("token").String() != want.token || math.Abs(l.Get("logprob").Num-want.logprob) > 1e-5 || l.Get("bytes.0").Int() != int64(want.token[0]) {
			t.Errorf("token %d: got %s, want %+v", i, l, want)
		}
		if top := l.Get("top_logprobs.#.token").String(); top != `["a","b","c","</s>"]` {
			t.Errorf("token %d: top %s", i, top)
		}
	}
	if refusal := gjson.GetBytes(a.Body, "choices.0.logprobs.refusal"); refusal.Type != gjson.Null || !refusal.Exists() {
		t.Errorf("got %s", a.Body)
	}
	// In a stream each chunk has those of its text.
	for _, f := range harness.Chat(t, base, `"stream":true,"temperature":0,"max_tokens":3,"logprobs":true`).Frames(t) {
		text, tokens := gjson.Get(f, "choices.0.delta.content").String(), ""
		for _, l := range gjson.Get(f, "choices.0.logprobs.content").Array() {
			tokens += l.Get("token").String()
		}
		if text != tokens {
			t.Errorf("text %q with tokens %q: %s", text, tokens, f)
		}
	}
	a = harness.Do(t, "POST", base+"/v1/completions", `{"model":"m","prompt":"x","temperature":0,"max_tokens":2,"logprobs":0}`)
	l := gjson.GetBytes(a.Body, "choices.0.logprobs")
	if l.Get("tokens").String() != `["a","a"]` || l.Get("text_offset").String() != "[0,1]" || l.Get("token_logprobs.#").Int() != 2 || !l.Get("top_logprobs.1.a").Exists() {
		t.Errorf("completion: %s", a.Body)
	}
}

// Control tokens by which an answer is taken apart reach the gateway, others do
// not reach the client.
func TestEngineControlTokens(t *testing.T) {
	const harmony = `{{ '<|start|>' }}{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}` +
		`{% for m in messages if m.tool_calls %}<|start|>assistant<|channel|>commentary to=functions.{{ m.tool_calls[0].function.name }} <|message|>{{ m.tool_calls[0].function.arguments }}<|call|>{% endfor %}<|start|>assistant`
	controls := []string{"<|channel|>", "<|message|>", "<|start|>", "<|end|>", "<|pad|>", "[TOOL_CALLS]"}
	f := func(template, reply, extra, want string) {
		t.Helper()
		m := replies(reply)
		m.Control = controls
		base := engine(t, m, enginetest.Options{ChatTemplate: template})
		answer := harness.Chat(t, base, extra)
		message := gjson.GetBytes(answer.Body, "choices.0.message")
		got := message.Get("reasoning_content").String() + "|" + message.Get("content").String() + "|" +
			message.Get("tool_calls.0.function.name").String() + message.Get("tool_calls.0.function.arguments").String()
		if got != want {
			t.Errorf("%s: got %s, want %s: %s", reply, got, want, answer.Body)
		}
	}
	const tools = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`
	f(harmony, "<|channel|>analysis<|message|>why<|end|><|start|>assistant<|channel|>final<|message|>Because.<|pad|>", "", "why|Because.|")
	f(harmony, `<|channel|>commentary to=functions.f <|message|>{"a":1}`, tools, `||f{"a":1}`)
	f("", "<|channel|>a<|pad|>b[TOOL_CALLS]<|end|>", "", "|ab|")
	const mistral = `[TOOL_CALLS]{% for m in messages %}{{ m.content }}{% if m.tool_calls %}[TOOL_CALLS]{{ m.tool_calls[0].function.name }}{% endif %}{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}`
	f(mistral, `[TOOL_CALLS][{"name":"f","arguments":{"a":1}}]`, tools, `||f{"a":1}`)
}

// Where a model reasons first, its form begins behind that.
func TestEngineStructuredOutputAfterReasoning(t *testing.T) {
	f := func(template, reply, reasoning, text string) {
		t.Helper()
		m := replies(reply)
		m.Control = []string{"<|channel|>", "<|message|>", "<|start|>", "<|end|>"}
		base := engine(t, m, enginetest.Options{ChatTemplate: template})
		message := gjson.GetBytes(harness.Chat(t, base, `"response_format":{"type":"json_object"}`).Body, "choices.0.message")
		if got := message.Get("reasoning_content").String(); got != reasoning || message.Get("content").String() != text {
			t.Errorf("%s: got %s", reply, message)
		}
	}
	f("{% for m in messages %}{{ m.content }}{% endfor %}<think>\n", `{ or [?</think>{"a":1}`, "{ or [?", `{"a":1}`)
	f("{% for m in messages %}{{ m.content }}{% endfor %}to=functions.<|start|>assistant",
		`<|channel|>analysis<|message|>{?<|end|><|start|>assistant<|channel|>final<|message|>{"a":1}`, "{?", `{"a":1}`)
	f("{% for m in messages %}{{ m.content }}{% endfor %}</think>", `{"a":1}`, "", `{"a":1}`)
}

// BC-058: all choices are there, each with its index and its finish, and the
// prompt is counted once.
func TestBC058EngineChoices(t *testing.T) {
	var read int
	m := &fakellama.Model{
		Weigh: func(_ []int32, logits []float32) {
			for i := range logits {
				logits[i] = -1000
			}
			logits['a'], logits['b'], logits['c'], logits[fakellama.EOS] = 3, 3, 3, 1
		},
		OnDecode: func(batch []sched.Item) error {
			for _, it := range batch {
				if !it.Logits {
					read++
				}
			}
			return nil
		},
	}
	base := engine(t, m, enginetest.Options{Parallel: 4, Context: 2000})
	prompt := strings.Repeat("long ", 200)
	ask := func(extra string) harness.Answer {
		return harness.Do(t, "POST", base+"/v1/chat/completions", `{"model":"m","temperature":1,"max_tokens":20,"messages":[{"role":"user","content":"`+prompt+`"}],`+extra+`}`)
	}
	var alone []string
	for seed := range 3 {
		alone = append(alone, content(ask(fmt.Sprintf(`"seed":%d`, 7+seed))))
	}
	a := ask(`"seed":7,"n":3`)
	for i, want := range alone {
		c := gjson.GetBytes(a.Body, fmt.Sprintf("choices.%d", i))
		if c.Get("index").Int() != int64(i) || c.Get("message.content").String() != want || c.Get("finish_reason").String() == "" {
			t.Errorf("choice %d: got %s, want %q, as alone with its seed", i, c, want)
		}
	}
	if alone[0] == alone[1] || alone[1] == alone[2] {
		t.Errorf("different seeds gave the same: %q", alone)
	}
	u := gjson.GetBytes(a.Body, "usage")
	if u.Get("prompt_tokens").Int() < 1000 || u.Get("prompt_tokens").Int() > 1100 || u.Get("completion_tokens").Int() != int64(len(strings.Join(alone, ""))) {
		t.Errorf("usage %s", u)
	}
	// The prompt is read once, and what of it is read again is little.
	if read > 1300 {
		t.Errorf("the engine read %d tokens for a prompt of %d", read, u.Get("prompt_tokens").Int())
	}
	finishes := map[int64]string{}
	texts := map[int64]string{}
	for _, f := range ask(`"seed":7,"n":3,"stream":true`).Frames(t) {
		c := gjson.Get(f, "choices.0")
		texts[c.Get("index").Int()] += c.Get("delta.content").String()
		finishes[c.Get("index").Int()] += c.Get("finish_reason").String()
	}
	for i, want := range alone {
		if texts[int64(i)] != want || finishes[int64(i)] != "length" && finishes[int64(i)] != "stop" {
			t.Errorf("streamed choice %d: %q, %s", i, texts[int64(i)], finishes[int64(i)])
		}
	}
}

// Equal seeds give equal answers, alone or among others, with a form or without.
func TestEngineSeeds(t *testing.T) {
	m := &fakellama.Model{Weigh: func(tokens []int32, logits []float32) {
		for i := range logits {
			logits[i] = float32((i*31+len(tokens)*17+int(tokens[len(tokens)-1]))%97) / 20
		}
	}}
	base := engine(t, m, enginetest.Options{Parallel: 8, Context: 300})
	ask := func(i int) string {
		return content(harness.Chat(t, base, fmt.Sprintf(`"seed":%d,"temperature":1.5,"max_tokens":60%s`, i/2, []string{``, `,"response_format":{"type":"json_object"}`}[i%2])))
	}
	var alone []string
	for i := range 12 {
		alone = append(alone, ask(i))
	}
	var wg sync.WaitGroup
	for i, want := range alone {
		wg.Go(func() {
			if got := ask(i); got != want {
				t.Errorf("request %d: got %q among others, %q alone", i, got, want)
			}
		})
	}
	wg.Wait()
	if alone[0] == alone[2] || alone[1] == alone[3] {
		t.Error("different seeds gave the same")
	}
}
