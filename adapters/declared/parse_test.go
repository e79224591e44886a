package declared

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"dragoman/adapters/yamlstrict"
)

func TestParseReportsEverything(t *testing.T) {
	f := func(source string, want ...string) {
		t.Helper()
		spec, errs := parse(t, source)
		var got []string
		for _, err := range errs {
			if e := (*yamlstrict.Error)(nil); !errors.As(err, &e) || !strings.HasPrefix(e.Path, "adapters.mine") {
				t.Errorf("%v has no path", err)
			}
			got = append(got, strings.TrimPrefix(err.Error(), "adapters.mine"))
		}
		if (spec == nil) != (len(errs) > 0) || !slices.Equal(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", source, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
	}
	good := "framing: ndjson\neof_is_finish: true\nsend: {path: /x, map: {prompt: p}}\nread: {text: t}\n"
	f(good)
	f("{}",
		`.framing: missing (valid: sse, ndjson, json, lines, raw, whole, aws, ws) (line 1)`,
		`.send.map: must have either prompt or messages: the one text that a chat template makes of the conversation, or the conversation itself (line 1)`,
		`.read.text: missing: the path of the text in a frame, or "." for the whole frame (line 1)`,
		`: nothing says when an answer is complete: set read.finish, read.done or end_marker, or eof_is_finish: true if there is only the end of the answer (line 1)`)
	f(good+"framming: x\nmax_concurrent: -1\nend_texts: ['']",
		`.framming: unknown key, did you mean "framing"? (valid: framing, cumulative, echo_prompt, eof_is_finish, end_marker, end_texts, max_concurrent, no_max_tokens, unary, send, read, cancel, health, models) (line 5)`,
		`.max_concurrent: must be 0 (no bound) or more, not -1`,
		`.end_texts[0]: must not be empty`)
	f(strings.Replace(good, "framing: ndjson", "framing: ndjsn", 1),
		`.framing: unknown framing "ndjsn", did you mean "ndjson"? (valid: sse, ndjson, json, lines, raw, whole, aws, ws)`)
	f(strings.Replace(good, "framing: ndjson", "framing: grpc", 1),
		`.framing: grpc is not for declared adapters: its messages are no JSON, so reading them needs code`)
	f("framing: sse\nend_marker: x\nsend: {path: x, method: get, map: {messages: m, prompt: p, temprature: t}}\nread: {text: t}",
		`.send.method: unknown method "get" (valid: POST, PUT)`,
		`.send.path: must begin with /, not be "x"`,
		`.send.map.temprature: unknown part of a request, did you mean "temperature"? (valid: id, model, messages, prompt, stream, max_tokens, stop, do_sample, temperature, top_p, top_k, min_p, frequency_penalty, presence_penalty, repetition_penalty, seed, min_tokens, stop_token_ids, logit_bias) (line 3)`,
		`.send.map: must have either prompt or messages: the one text that a chat template makes of the conversation, or the conversation itself (line 1)`)
	send := func(s string) string {
		return strings.Replace(good, "send: {path: /x, map: {prompt: p}}", "send: "+s, 1)
	}
	f(send("{path: '/{modle}', const: {a..b: 1, ., 'x|y': 1, n: .nan}, map: {prompt: p}}"),
		`.send.path: "/{modle}": only {model} and {id} can stand in braces`,
		`.send.const."a..b": "a..b": the path has an empty part (line 3)`,
		`.send.const.".": "." is no place in the body (line 3)`,
		`.send.const."x|y": "x|y": a path is names and list positions joined by dots, such as choices.0.text; put \ before any other sign (line 3)`,
		`.send.const.n: .nan is no JSON number (line 3)`)
	f(send("{const: {a: 1, b.c: 1, b.c: 2}, map: {prompt: a, stop: a.b, model: b}}"),
		`.send.const."b.c": written twice, first in line 3 (line 3)`,
		`.send.map.prompt: "a": something stands there already (line 3)`,
		`.send.map.stop: "a.b": a holds a value already and cannot hold members too (line 3)`,
		`.send.map.model: "b": something stands there already (line 3)`)
	f(send("{map: {prompt: {to: p, min: 1, frob: 2}, stop: {list: true}, seed: {to: s, min: x}, model: [a]}}"),
		`.send.map.prompt.frob: unknown key (valid: to, list, json_string, min, max, omit_below, omit_from, default) (line 3)`,
		`.send.map.stop: needs the path in the body: as a string, or as to: (line 3)`,
		`.send.map.seed.min: must be a number, not "x" (line 3)`,
		`.send.map.model: must be a mapping, not a list (line 3)`)
	f(send("{map: {prompt: {to: p, min: 1}, stop: {to: s, list: true, max: 1.5}, stop_token_ids: {to: i, min: 1}, top_p: {to: q, min: 2, max: 1}, seed: {to: j.s, json_string: true}, top_k: j.k}}"),
		`.send.map.prompt: min, max, omit_below and omit_from are for numbers; max also for stop and stop_token_ids (line 3)`,
		`.send.map.stop: max of a list must be a whole number of 1 or more, not 1.5 (line 3)`,
		`.send.map.stop_token_ids: min, max, omit_below and omit_from are for numbers; max also for stop and stop_token_ids (line 3)`,
		`.send.map.top_p: min 2 is more than max 1 (line 3)`,
		`.send.map.top_k: "j.k": json_string must be the same for all parts of j (line 3)`)
	f(good+"cancel: {map: {id: k, prompt: p}}\nhealth: {method: PUT, state: s}\nmodels: {path: x, is: [a], name: 'a b|'}",
		`.cancel.map.prompt: unknown part of a request (valid: id, model) (line 5)`,
		`.cancel.path: missing`,
		`.health.method: unknown method "PUT" (valid: GET, POST)`,
		`.health.path: missing`,
		`.models.path: must begin with /, not be "x"`,
		`.models.name: "a b|": a path is names and list positions joined by dots, such as choices.0.text; put \ before any other sign`,
		`.models: state and is are for health`)
	f(good+"health: {path: /h, state: s, list: x}\nmodels: {path: /m}",
		`.health: state and is go together: where the word stands, and which words say that all is well`,
		`.health: list and name are for models`,
		`.models: needs list, name or both: where the names stand`)
	read := func(s string) string { return strings.Replace(good, "read: {text: t}", "read: "+s, 1) }
	f(read("{text: t, finish: a b.c, finish_map: {x: stopp, y: none}, error: e, error_code: 'x[0]', error_map: {a: 200}, done: {is: []}, skip: {path: s, is: [[1]], not: [2]}}"),
		`.read.skip: needs either is or not, a list of values`,
		`.read.skip: values are single words, numbers, true, false or null (line 4)`,
		`.read.done.path: missing`,
		`.read.done: needs either is or not, a list of values`,
		`.read.finish_map.x: unknown finish "stopp", did you mean "stop"? (valid: stop, length, tool_calls, content_filter, error, none)`,
		`.read.error_code: "x[0]": a path is names and list positions joined by dots, such as choices.0.text; put \ before any other sign`,
		`.read.error_map.a: must be an HTTP status from 400 to 599, not 200`)
	f(read("{text: [t, {}], error_message: m, finish_map: {x: stop}}"),
		`.read.text[1]: must be a string, not a mapping (line 4)`,
		`.read.finish: missing, but there is a finish_map (line 1)`,
		`.read.error: missing: what tells a frame with an error from others (line 1)`)
	f(read("{text: t, completion_tokens: a, frame_tokens: b, error: [e, '', {path: p}], error_message: [m, '']}"),
		`.read.frame_tokens: cannot stand beside completion_tokens, which counts all frames so far`,
		`.read.error_message: the path is empty (line 4)`,
		`.read.error[1]: the path is empty (line 4)`,
		`.read.error[2]: needs either is or not, a list of values`)
	f(read("{text: null}"), `.read.text: missing: the path of the text in a frame, or "." for the whole frame (line 1)`)
	f(read("{text: '', reasoning: [''], error: ''}"),
		`.read.text: the path is empty (line 4)`,
		`.read.reasoning: the path is empty (line 4)`,
		`.read.error: the path is empty (line 4)`)
	plain := "framing: raw\neof_is_finish: true\nsend: {map: {prompt: p}}\nread: "
	f(plain+"{text: t}", `.read.text: must be "." with framing raw, whose frames are plain text (line 4)`)
	f(plain+"{text: ., finish: f}", `.read: text: "." says that frames are plain text, so nothing else can be read from them (line 4)`)
	f("framing: ws\nunary: true\nend_marker: x\nsend: {method: PUT, map: {prompt: p}}\nread: {text: .}",
		`.unary: cannot stand beside framing ws: a WebSocket has no answer in one piece`,
		`.send.method: cannot stand beside framing ws: a WebSocket begins with a GET`)
	f("[]", `: must be a mapping, not a list (line 1)`,
		`.framing: missing (valid: sse, ndjson, json, lines, raw, whole, aws, ws) (line 1)`,
		`.send.map: must have either prompt or messages: the one text that a chat template makes of the conversation, or the conversation itself (line 1)`,
		`.read.text: missing: the path of the text in a frame, or "." for the whole frame (line 1)`,
		`: nothing says when an answer is complete: set read.finish, read.done or end_marker, or eof_is_finish: true if there is only the end of the answer (line 1)`)
}

func TestTraitsAreThoseOfTheSpec(t *testing.T) {
	spec, errs := parse(t, "framing: json\ncumulative: true\necho_prompt: true\nend_marker: E\nend_texts: [</s>]\nmax_concurrent: 2\n"+
		"no_max_tokens: true\nunary: true\nsend: {map: {messages: m, stop: s, top_p: p, max_tokens: n}}\nread: {text: t}")
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	got := New(spec).Traits()
	if got.Framing.String() != "json" || !got.Cumulative || !got.EchoPrompt || got.EndMarker != "E" || got.EndTexts[0] != "</s>" ||
		got.MaxConcurrent != 2 || !got.NoMaxTokens || !got.Unary || !got.Messages || !got.SingleChoice || got.EOFIsFinish {
		t.Errorf("got %+v", got)
	}
	if want := []string{"stop", "top_p"}; !slices.Equal(got.Accepts, want) {
		t.Errorf("accepts %v, want %v", got.Accepts, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("framing: sse\nend_marker: x\nsend: {map: {prompt: a.b}}\nread: {text: [a.0, b], done: {path: x, not: [null]}}"))
	f.Add([]byte("send: {const: {a: &a [*a]}, map: {stop: {default: {}}}}"))
	f.Fuzz(func(t *testing.T, source []byte) {
		var n yaml.Node
		if yaml.Unmarshal(source, &n) != nil || n.Kind == 0 {
			return
		}
		Parse("mine", &n)
	})
}
