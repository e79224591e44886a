package openai

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

func TestCheck32_StopStrings(t *testing.T) {
	f := func(value, want string) {
		t.Helper()
		for _, body := range []string{chat(`"stop":` + value), completion(`"stop":` + value)} {
			if got := strings.Join(accept(t, body).Request.Stop, "|"); got != want {
				t.Errorf("stop %s is %q, want %q", value, got, want)
			}
		}
	}
	f(`"###"`, "###")
	f(`["a"]`, "a")
	f(`["a","b","c","\u00e9\n"]`, "a|b|c|\u00e9\n")
	f(`[]`, "")
	f(`null`, "")
	f(`""`, "")
	refuse(t, chat(`"stop":["a","b","c","d","e"]`), "stop", "invalid_value")
	refuse(t, chat(`"stop":["a",""]`), "stop[1]", "invalid_value")
	refuse(t, chat(`"stop":["a",null]`), "stop[1]", "invalid_type")
	refuse(t, chat(`"stop":5`), "stop", "invalid_type")
	refuse(t, chat(`"stop":{"a":1}`), "stop", "invalid_type")
}

func TestCheck33_Ranges(t *testing.T) {
	f := func(name, value string) {
		t.Helper()
		p, _ := llm.ParamNamed(name)
		for _, body := range []string{chat(`"` + name + `":` + value), completion(`"` + name + `":` + value)} {
			if got := accept(t, body).Request.Params[p]; got != value {
				t.Errorf("%s %s became %q", name, value, got)
			}
		}
	}
	bad := func(name, code string, values ...string) {
		t.Helper()
		for _, value := range values {
			refuse(t, chat(`"`+name+`":`+value), name, code)
			refuse(t, completion(`"`+name+`":`+value), name, code)
		}
	}
	f("temperature", "0")
	f("temperature", "0.70")
	f("temperature", "2")
	f("temperature", "1e-400")
	bad("temperature", "invalid_value", "2.1", "-0.1", "1e400", "-1e400")
	bad("temperature", "invalid_type", `"1"`, "true", "[1]")
	f("top_p", "0")
	f("top_p", "1")
	bad("top_p", "invalid_value", "-0.1", "1.01")
	f("presence_penalty", "-2")
	f("frequency_penalty", "2.0")
	bad("presence_penalty", "invalid_value", "-2.1", "2.1")
	bad("frequency_penalty", "invalid_value", "-2.1", "2.1")
	f("top_k", "0")
	f("top_k", "-1")
	bad("top_k", "invalid_value", "-2", "1e30")
	bad("top_k", "invalid_type", "0.5")
	f("min_p", "0.05")
	bad("min_p", "invalid_value", "2")
	f("repetition_penalty", "1.1")
	f("min_tokens", "3")
	bad("min_tokens", "invalid_value", "-1")
	_, err := ParseChat([]byte(chat(`"temperature":2.1`)))
	if got, want := err.Error(), "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.1 instead."; got != want {
		t.Errorf("got %s", got)
	}
}

func TestBC062_ExplicitZerosStay(t *testing.T) {
	params := accept(t, chat(`"temperature":0,"top_p":0,"seed":0,"presence_penalty":0,"top_k":0`)).Request.Params
	for _, p := range []llm.Param{llm.Temperature, llm.TopP, llm.Seed, llm.PresencePenalty, llm.TopK} {
		if params[p] != "0" {
			t.Errorf("%v is %q", p, params[p])
		}
	}
	if params := accept(t, chat("")).Request.Params; params != (llm.Params{}) {
		t.Errorf("absent became %q", params)
	}
}

func TestIntegralDecimalsBecomeIntegers(t *testing.T) {
	params := accept(t, chat(`"seed":42.0,"top_k":4e1,"min_tokens":-0.0,"stop_token_ids":[ 1, 2.0 ,3e0]`)).Request.Params
	if params[llm.Seed] != "42" || params[llm.TopK] != "40" || params[llm.MinTokens] != "0" || params[llm.StopTokenIDs] != "[1,2,3]" {
		t.Errorf("got %q", params)
	}
	refuse(t, chat(`"stop_token_ids":[1,"2"]`), "stop_token_ids", "invalid_value")
	refuse(t, chat(`"stop_token_ids":[-1]`), "stop_token_ids", "invalid_value")
	refuse(t, chat(`"stop_token_ids":7`), "stop_token_ids", "invalid_type")
}

func TestCheck34_35_Logprobs(t *testing.T) {
	wantNeeds(t, chat(`"logprobs":true`), "logprobs@logprobs")
	wantNeeds(t, chat(`"logprobs":true,"top_logprobs":20`), "logprobs@logprobs")
	wantNeeds(t, chat(`"logprobs":false,"top_logprobs":null`), "")
	refuse(t, chat(`"top_logprobs":5`), "top_logprobs", "invalid_value")
	refuse(t, chat(`"logprobs":false,"top_logprobs":5`), "top_logprobs", "invalid_value")
	refuse(t, chat(`"logprobs":true,"top_logprobs":21`), "top_logprobs", "invalid_value")
	refuse(t, chat(`"logprobs":1`), "logprobs", "invalid_type")
}

func TestCheck36_BC058_Choices(t *testing.T) {
	wantNeeds(t, chat(`"n":1`), "")
	wantNeeds(t, chat(`"n":2`), "n@n")
	if n := accept(t, chat(`"n":128`)).Request.N; n != 128 {
		t.Errorf("n is %d", n)
	}
	if n := accept(t, chat("")).Request.N; n != 1 {
		t.Errorf("n is %d", n)
	}
	refuse(t, chat(`"n":0`), "n", "invalid_value")
	refuse(t, chat(`"n":129`), "n", "invalid_value")
	refuse(t, chat(`"n":1.5`), "n", "invalid_type")
	refuse(t, chat(`"n":"1"`), "n", "invalid_type")
}

func TestCheck37_ResponseFormat(t *testing.T) {
	wantNeeds(t, chat(`"response_format":{"type":"json_object"}`), "response_format@response_format")
	wantNeeds(t, chat(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{}}}`), "response_format@response_format")
	refuse(t, chat(`"response_format":{"type":"json_schema"}`), "response_format.json_schema", "missing_required_parameter")
	refuse(t, chat(`"response_format":{"type":"json_schema","json_schema":"x"}`), "response_format.json_schema", "invalid_type")
	for _, schema := range []string{"false", "true", `"x"`, "[]", "5"} {
		refuse(t, chat(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":`+schema+`}}`), "response_format.json_schema.schema", "invalid_type")
	}
	wantNeeds(t, chat(`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":null}}`), "response_format@response_format")
	refuse(t, chat(`"response_format":{"type":"xml"}`), "response_format.type", "invalid_value")
	refuse(t, chat(`"response_format":{}`), "response_format.type", "missing_required_parameter")
	refuse(t, chat(`"response_format":"json"`), "response_format", "invalid_type")
	refuse(t, chat(`"response_format":{"type":5}`), "response_format.type", "invalid_type")
}

func TestOtherNeeds(t *testing.T) {
	wantNeeds(t, chat(`"logit_bias":{"50256":-100,"7":0.5}`), "logit_bias@logit_bias")
	wantNeeds(t, chat(`"presence_penalty":0.1,"frequency_penalty":-1`), "frequency_penalty@frequency_penalty presence_penalty@presence_penalty")
	wantNeeds(t, chat(`"modalities":["text","audio"],"audio":{}`), "modalities@modalities audio@audio")
	wantNeeds(t, chat(`"web_search_options":{}`), "web_search_options@web_search_options")
	refuse(t, chat(`"logit_bias":{"x":1}`), "logit_bias", "invalid_value")
	refuse(t, chat(`"logit_bias":{"5":101}`), "logit_bias.5", "invalid_value")
	refuse(t, chat(`"logit_bias":{"5":"1"}`), "logit_bias.5", "invalid_type")
	refuse(t, chat(`"logit_bias":[]`), "logit_bias", "invalid_type")
	refuse(t, chat(`"modalities":["smell"]`), "modalities", "invalid_value")
	refuse(t, chat(`"modalities":"text"`), "modalities", "invalid_type")
	refuse(t, chat(`"web_search_options":1`), "web_search_options", "invalid_type")
}

func TestParseInteger(t *testing.T) {
	f := func(text string, want int64, wantErr error) {
		t.Helper()
		if got, err := parseInteger([]byte(text)); got != want || err != wantErr {
			t.Errorf("%s is %d, %v, want %d, %v", text, got, err, want, wantErr)
		}
	}
	f("0", 0, nil)
	f("-0", 0, nil)
	f("0e99999999999999999999", 0, nil)
	f("0.05e2", 5, nil)
	f("1200e-2", 12, nil)
	f("-9.223372036854775808e18", math.MinInt64, nil)
	f("9007199254740993.0", 9007199254740993, nil)
	f("0.5", 0, errNotInteger)
	f("1e-99999999999999999999", 0, errNotInteger)
	f("9223372036854775808", 0, errRange)
	f("1e99999999999999999999", 0, errRange)
	f("123456789012345678901234567890.5", 0, errNotInteger)
	f(`"1"`, 0, errNotInteger)
	f(`null`, 0, errNotInteger)
}

// FuzzParseInteger compares with exact rational numbers.
func FuzzParseInteger(f *testing.F) {
	for _, s := range []string{"1", "-2.50e1", "1e18", "9223372036854775807", "0.000e5", "10e-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) == 0 || len(text) > 30 || farExponent(text) || !isNumber([]byte(text)) || !json.Valid([]byte(text)) {
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			return // an exponent that it refuses
		}
		got, err := parseInteger([]byte(text))
		switch {
		case !exact.IsInt() && err != errNotInteger, exact.IsInt() && exact.Num().IsInt64() && (err != nil || got != exact.Num().Int64()),
			exact.IsInt() && !exact.Num().IsInt64() && err != errRange:
			t.Fatalf("%s is %d, %v, want %s", text, got, err, exact)
		}
	})
}

// farExponent keeps exact arithmetic from numbers of a million digits.
func farExponent(text string) bool {
	i := strings.IndexAny(text, "eE")
	return i >= 0 && len(text)-i > 5
}
