package openai

import (
	"fmt"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

func text(s string) *llm.Event { return &llm.Event{Text: []byte(s)} }

func finish(f llm.Finish) *llm.Event { return &llm.Event{Finish: f} }

func toolCallStart(index int, id, name, arguments string) *llm.Event {
	return &llm.Event{Tool: &llm.ToolDelta{Index: index, ID: id, Name: name, Arguments: []byte(arguments)}}
}

func at(choice int, ev *llm.Event) *llm.Event {
	ev.Choice = choice
	return ev
}

// write runs events through a writer to the end.
func write(m Meta, u llm.Usage, events ...*llm.Event) []byte {
	w := NewChunkWriter(m)
	var out []byte
	for _, ev := range events {
		out = w.AppendEvent(out, ev)
	}
	return w.AppendEnd(out, u)
}

func TestTextStreamGolden(t *testing.T) {
	got := write(meta(), llm.Usage{Prompt: 3, Completion: 2, Has: true},
		text("Hel"), text("lo \"you\"\n"), finish(llm.FinishStop))
	golden(t, got, `
data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":{"content":"Hel"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":{"content":"lo \"you\"\n"},"logprobs":null,"finish_reason":null}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}

data: [DONE]

`)
}

func TestToolStreamGolden(t *testing.T) {
	m := meta()
	m.OffersTools = true
	got := write(m, llm.Usage{}, toolCallStart(0, "call_a", "f", ""), toolCallStart(0, "", "", `{"x":`), toolCallStart(0, "", "", `1}`),
		toolCallStart(1, "call_b", "g", `{}`), toolCallStart(1, "call_b", "g", ""), finish(llm.FinishTools))
	head := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":`
	tail := `,"logprobs":null,"finish_reason":null}]}`
	golden(t, got, head+`{"role":"assistant","content":null}`+tail+"\n\n"+
		head+`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":""}}]}`+tail+"\n\n"+
		head+`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]}`+tail+"\n\n"+
		head+`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`+tail+"\n\n"+
		head+`{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"g","arguments":"{}"}}]}`+tail+"\n\n"+
		head+`{},"logprobs":null,"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
}

func TestCheck56_FirstContent(t *testing.T) {
	f := func(offersTools bool, want string, events ...*llm.Event) {
		t.Helper()
		m := meta()
		m.OffersTools = offersTools
		w := NewChunkWriter(m)
		var got []byte
		if events == nil {
			got = w.AppendRole(nil)
		}
		for _, ev := range events {
			got = w.AppendEvent(got, ev)
		}
		first, _, _ := strings.Cut(string(got), "\n")
		if want = `"delta":{"role":"assistant","content":` + want + `}`; !strings.Contains(first, want) {
			t.Errorf("got %s, want %s", first, want)
		}
		if n := strings.Count(string(got), "role"); n != 1 {
			t.Errorf("role comes %d times", n)
		}
	}
	f(false, `""`)
	f(false, `""`, text("a"), text("b"))
	f(false, `""`, &llm.Event{Reasoning: []byte("hm")})
	f(true, `null`)
	f(true, `""`, text("a"))
	f(true, `""`, finish(llm.FinishStop))
	f(true, `null`, &llm.Event{Reasoning: []byte("hm")}, text("a"))
	f(true, `null`, toolCallStart(0, "c", "f", "{}"))
}

func TestCheck55_IndexesOpenInAscendingOrder(t *testing.T) {
	for _, kind := range []llm.Kind{llm.Chat, llm.Completion} {
		m := meta()
		m.Kind = kind
		got := write(m, llm.Usage{}, at(2, text("c")), at(0, text("a")), at(1, text("b")), at(2, finish(llm.FinishStop)),
			at(0, finish(llm.FinishLength)), at(1, finish(llm.FinishStop)))
		chunks := frames(t, got)
		next := 0
		roles := map[int]int{}
		for _, chunk := range chunks {
			c := chunk["choices"].([]any)[0].(map[string]any)
			index := int(c["index"].(float64))
			if index > next {
				t.Fatalf("index %d opens before %d", index, next)
			}
			delta, _ := c["delta"].(map[string]any)
			_, hasRole := delta["role"]
			if kind == llm.Chat && hasRole != (index == next) {
				t.Errorf("role in the wrong chunk: %v", chunk)
			}
			if index == next {
				next++
			}
			if hasRole {
				roles[index]++
			}
		}
		member := "content"
		if kind == llm.Completion {
			member = "text"
		}
		for i, want := range []string{"a", "b", "c"} {
			if s := joined(t, chunks, i, member); s != want {
				t.Errorf("choice %d says %q, want %q", i, s, want)
			}
		}
	}
}

func TestCheck57_OneFinishAndNothingAfter(t *testing.T) {
	got := write(meta(), llm.Usage{}, text("x"), finish(llm.FinishStop), text("late"), finish(llm.FinishLength))
	chunks := frames(t, got)
	if last := chunks[len(chunks)-1]; fmt.Sprint(last["choices"]) != "[map[delta:map[] finish_reason:stop index:0 logprobs:<nil>]]" || len(chunks) != 3 {
		t.Errorf("got %s", got)
	}
}

func TestTextAndFinishInOneEventAreTwoChunks(t *testing.T) {
	chunks := frames(t, write(meta(), llm.Usage{}, &llm.Event{Text: []byte("x"), Finish: llm.FinishStop}))
	if len(chunks) != 3 || joined(t, chunks, 0, "content") != "x" {
		t.Errorf("got %v", chunks)
	}
}

func TestCheck48_ForeignFinishWordsNeverLeak(t *testing.T) {
	for _, word := range []llm.Finish{"eos", "zzz", `"x`} {
		if got := string(write(meta(), llm.Usage{}, finish(word))); !strings.Contains(got, `"finish_reason":"stop"`) {
			t.Errorf("%s: %s", word, got)
		}
	}
}

func TestCheck54_BC004_ConstantMembers(t *testing.T) {
	m := meta()
	m.IncludeUsage = true
	for _, chunk := range frames(t, write(m, llm.Usage{}, text("a"), text("b"), finish(llm.FinishStop))) {
		if chunk["id"] != "chatcmpl-1" || chunk["object"] != "chat.completion.chunk" || chunk["created"] != 1764500000.0 || chunk["model"] != "m" {
			t.Errorf("got %v", chunk)
		}
	}
	if a, b := NewID(llm.Chat), NewID(llm.Chat); a == b || !strings.HasPrefix(a, "chatcmpl-") {
		t.Errorf("ids %s and %s", a, b)
	}
	if id := NewID(llm.Completion); !strings.HasPrefix(id, "cmpl-") {
		t.Errorf("id %s", id)
	}
}

func TestBC006_ChoicesAlwaysHaveTheirMembers(t *testing.T) {
	for _, chunk := range frames(t, write(meta(), llm.Usage{}, text("one"), text(" two"), finish(llm.FinishStop))) {
		for _, c := range chunk["choices"].([]any) {
			for _, member := range []string{"index", "delta", "finish_reason"} {
				if _, ok := c.(map[string]any)[member]; !ok {
					t.Errorf("no %s in %v", member, c)
				}
			}
		}
	}
}

func TestCheck64_EmptyEventsSayNothing(t *testing.T) {
	w := NewChunkWriter(meta())
	out := w.AppendEvent(nil, &llm.Event{})
	out = w.AppendEvent(out, &llm.Event{Usage: llm.Usage{Prompt: 1, Has: true}})
	if len(out) != 0 {
		t.Errorf("got %s", out)
	}
}

func TestCheck66_LineEndsAreEscaped(t *testing.T) {
	const said = "a\u2028b\u2029c\u0085d\x00e\rf\ng\x1f</b>&\u00e9\U0001f600"
	for _, pieces := range cuttings(said) {
		var events []*llm.Event
		for _, piece := range pieces {
			events = append(events, text(piece))
		}
		got := write(meta(), llm.Usage{}, append(events, finish(llm.FinishStop))...)
		if s := joined(t, frames(t, got), 0, "content"); s != said {
			t.Errorf("got %q", s)
		}
		if strings.Contains(string(got), `\u003c`) {
			t.Error("HTML is escaped")
		}
	}
}

func TestCheck67_LongDeltasAreSplit(t *testing.T) {
	m := meta()
	m.OffersTools = true
	m.Model = strings.Repeat("\x01", maxModelName)
	for _, unit := range []string{"x", "\u00e9", "\U0001f600", "\x01", "a\u2028"} {
		long := strings.Repeat(unit, 200<<10/len(unit))
		chunks := frames(t, write(m, llm.Usage{},
			&llm.Event{Reasoning: []byte(long)}, text(long), toolCallStart(0, "c", "f", long), finish(llm.FinishStop)))
		if joined(t, chunks, 0, "content") != long || joined(t, chunks, 0, "reasoning_content") != long {
			t.Errorf("%q: the text changed", unit)
		}
		arguments := ""
		for _, chunk := range chunks {
			delta := chunk["choices"].([]any)[0].(map[string]any)["delta"].(map[string]any)
			if calls, ok := delta["tool_calls"].([]any); ok {
				arguments += calls[0].(map[string]any)["function"].(map[string]any)["arguments"].(string)
			}
		}
		if arguments != long {
			t.Errorf("%q: the arguments changed", unit)
		}
	}
}

func TestCheck67_LongNamesOfCallsAreCut(t *testing.T) {
	m := meta()
	m.OffersTools = true
	m.Model = strings.Repeat("\x01", maxModelName)
	for _, size := range []int{1, shortCallName / 2, shortCallName, maxCallName, 100 << 10} {
		name, long := strings.Repeat("\x01", size), strings.Repeat("\x01", 20<<10)
		event := toolCallStart(0, name, name, long)
		event.Extra = []byte(`"x":"` + strings.Repeat("x", shortExtra-6) + `"`)
		arguments := ""
		for _, chunk := range frames(t, write(m, llm.Usage{}, event, finish(llm.FinishTools))) {
			calls, _ := chunk["choices"].([]any)[0].(map[string]any)["delta"].(map[string]any)["tool_calls"].([]any)
			for _, call := range calls {
				arguments += call.(map[string]any)["function"].(map[string]any)["arguments"].(string)
				if id, ok := call.(map[string]any)["id"].(string); ok && id != name[:min(size, maxCallName)] {
					t.Errorf("%d bytes: the id has %d", size, len(id))
				}
			}
		}
		if arguments != long {
			t.Errorf("%d bytes: the arguments changed", size)
		}
	}
}

func TestCheck71_NoErrorMemberWithoutError(t *testing.T) {
	if got := write(meta(), llm.Usage{}, text("x"), finish(llm.FinishStop)); strings.Contains(string(got), `"error"`) {
		t.Errorf("got %s", got)
	}
}

func TestCheck72_EmptyGeneration(t *testing.T) {
	chunks := frames(t, write(meta(), llm.Usage{}, finish(llm.FinishStop)))
	if len(chunks) != 2 || !strings.Contains(fmt.Sprint(chunks[0]), "role:assistant") || !strings.Contains(fmt.Sprint(chunks[1]), "finish_reason:stop") {
		t.Errorf("got %v", chunks)
	}
}

func TestExtraMembersRideOnOneChunk(t *testing.T) {
	m := meta()
	m.IncludeUsage = true
	ev := text("x")
	ev.Extra = []byte(`"system_fingerprint":"fp"`)
	late := &llm.Event{Extra: []byte(`"timings":{"n":1}`)}
	huge := text("y")
	huge.Extra = []byte(`"z":"` + strings.Repeat("z", 70<<10) + `"`)
	got := write(m, llm.Usage{Has: true}, ev, huge, finish(llm.FinishStop), late)
	chunks := frames(t, got)
	if chunks[0]["system_fingerprint"] != "fp" || strings.Count(string(got), "fp") != 1 {
		t.Errorf("got %s", got)
	}
	if last := chunks[len(chunks)-1]; fmt.Sprint(last["timings"]) != "map[n:1]" {
		t.Errorf("got %v", last)
	}
}

// TestLongExtraMembersWaitForRoom: a search's results may be longer than the
// text beside them, and lines have a bound.
func TestLongExtraMembersWaitForRoom(t *testing.T) {
	ev := text(strings.Repeat("\x01", maxPiece))
	ev.Extra = []byte(`"search_results":["` + strings.Repeat("x", maxExtra/2) + `"]`)
	chunks := frames(t, write(meta(), llm.Usage{}, ev, finish(llm.FinishStop)))
	for i, chunk := range chunks {
		if _, ok := chunk["search_results"]; ok != (i == len(chunks)-1) {
			t.Errorf("chunk %d of %d: %v", i, len(chunks), ok)
		}
	}
}

func TestExtraMembersStayInOneLine(t *testing.T) {
	ev := text("x")
	ev.Extra = []byte("\"a\":\r\n[1,\n\"\u2028\u2029\u0085\u00e9\"]")
	got := string(write(meta(), llm.Usage{}, ev, finish(llm.FinishStop)))
	if want := `"a":  [1, "\u2028\u2029\u0085é"]`; !strings.Contains(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestBC002_TheWriterAloneSaysTheRole(t *testing.T) {
	got := string(write(meta(), llm.Usage{}, text("Hi"), text("!"), finish(llm.FinishStop)))
	if strings.Count(got, `"role"`) != 1 || strings.Contains(got, `"role":""`) {
		t.Errorf("got %s", got)
	}
}

func TestAppendEventAllocatesNothing(t *testing.T) {
	w := NewChunkWriter(meta())
	buf := w.AppendEvent(make([]byte, 0, 4096), text("open"))
	ev := &llm.Event{Text: []byte(" word \"quoted\" \u00e9\u2028"), Extra: []byte(`"a":1`)}
	call := toolCallStart(0, "call_1", "f", "{")
	w.AppendEvent(buf, call)
	if n := testing.AllocsPerRun(100, func() {
		buf = w.AppendEvent(buf[:0], ev)
		buf = w.AppendEvent(buf, call)
		buf = w.AppendKeepAlive(buf)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkAppendEvent(b *testing.B) {
	w := NewChunkWriter(meta())
	ev := text(" word")
	buf := w.AppendEvent(make([]byte, 0, 4096), ev)
	b.ReportAllocs()
	for b.Loop() {
		buf = w.AppendEvent(buf[:0], ev)
	}
}
