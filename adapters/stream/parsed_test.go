package stream

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
	"dragoman/adapters/parse"
)

// offering returns a request that offers a tool f, and how its answers are read.
func offering(t *testing.T) (*llm.Request, *parse.Plan) {
	t.Helper()
	raw := []byte(`{"tools":[{"type":"function","function":{"name":"f"}}]}`)
	members, err := jsonscan.Members(raw, 64)
	if err != nil {
		t.Fatal(err)
	}
	req := &llm.Request{Raw: raw, Members: members, N: 1}
	return req, parse.New("", "hermes", parse.Tags).Plan(req, false)
}

// What the text means comes in order, is finished once, and tool_calls replaces
// stop alone.
func TestParsedText(t *testing.T) {
	f := func(edit func(*llm.Request), body, want string) {
		t.Helper()
		for name, r := range chunkings(body, nil) {
			req, plan := offering(t)
			if edit != nil {
				edit(req)
			}
			if got := playParsed(t, deltas, req, plan, r); strings.ReplaceAll(got.text, "}{", "") != want || got.err != nil {
				t.Errorf("%s: %s\n got %s, %v\nwant %s", name, body, got.text, got.err, want)
			}
		}
	}
	stop := func(s string) func(*llm.Request) { return func(r *llm.Request) { r.Stop = []string{s} } }
	const call = `{"t":"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\""}` + "\n" + `{"t":":1}}</tool_call>"}` + "\n"
	f(nil, `{"t":"<think>a"}`+"\n"+`{"t":"</think>\n\nb"}`+"\n"+call+`{"f":"stop"}`+"\n", `(a)b{{"a":1}}!tool_calls`)
	f(nil, call+`{"f":"length"}`+"\n", `{{"a":1}}!length`)
	f(nil, `{"t":"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\"","f":"length"}`+"\n", `{{"a"}!length`)
	f(nil, `{"t":"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\"","f":"stop"}`+"\n", `{{"a"}!stop`)
	f(nil, `{"t":"<tool_call>x","f":"stop"}`+"\n", `<tool_call>x!stop`)
	f(nil, `{"t":"a <tool_ca"}`+"\n"+`{"t":"","f":"stop"}`+"\n", `a <tool_ca!stop`)
	// Reasoning and calls that the backend knows as such stay where they are.
	f(nil, `{"r":"q","t":"<think>a</think>b"}`+"\n"+`{"t":"c","f":"stop"}`+"\n", `(qa)bc!stop`)
	f(nil, call+`{"tool":"{}","f":"stop"}`+"\n", `{{"a":1}{}}!tool_calls`)
	// A stop string ends what the model writes, whatever that means.
	f(stop("END"), `{"t":"<think>a EN"}`+"\n"+`{"t":"D b</think>c"}`+"\n", `(a )!stop`)
	f(stop("<|im_end|>"), call[:len(call)-3]+`<|im_end|>x"}`+"\n", `{{"a":1}}!tool_calls`)
	f(func(r *llm.Request) { r.N = 2 }, `{"i":1,"t":"<think>a"}`+"\n"+`{"i":0,"t":"b","f":"stop"}`+"\n"+`{"i":1,"t":"</think>c","f":"stop"}`+"\n",
		`b!stop / (a)c!stop`)
}

// Calls that the backend knows as such and calls in the text are told apart, in
// whatever order they come.
func TestParsedIndexes(t *testing.T) {
	const call = `{"t":"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":1}}</tool_call>"`
	f := func(want, body string) {
		t.Helper()
		req, plan := offering(t)
		s, err := OpenParsed(context.Background(), answering(strings.NewReader(body)), deltas, req, plan)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		a, err := Collect(s, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, c := range a.Choices[0].Tools {
			if c.Name != "f" || c.ID == "" {
				t.Errorf("got %+v", c)
			}
			got += " " + c.Arguments
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
	f(` {"a":1} {}`, call+"}\n"+`{"tool":"{}","f":"stop"}`+"\n")
	f(` {"a":1} {}`, call+`,"tool":"{}","f":"stop"}`+"\n")
	f(` {} {"a":1}`, `{"tool":"{}"}`+"\n"+call+`,"f":"stop"}`+"\n")
	f(` {} {"a":1}`, `{"tool":"{"}`+"\n"+call+"}\n"+`{"tool":"}","f":"stop"}`+"\n")
}

func TestTooManyCallsInText(t *testing.T) {
	req, plan := offering(t)
	body := `{"t":"` + strings.Repeat(`<tool_call>{\"name\":\"f\"}</tool_call>`, 100<<10) + `","f":"stop"}` + "\n"
	_, err := OpenParsed(context.Background(), answering(strings.NewReader(body)), deltas, req, plan)
	if e := (*llm.Error)(nil); !errors.As(err, &e) || e.Status != 502 {
		t.Errorf("got %v", err)
	}
}

// What was held back comes before an error.
func TestParsedTextBeforeAnError(t *testing.T) {
	req, plan := offering(t)
	for name, r := range chunkings(`{"t":"b <tool_call>{"}`+"\n", errReset) {
		got := playParsed(t, deltas, req, plan, r)
		if got.text != "b <tool_call>{" || got.err == nil || got.err == io.EOF {
			t.Errorf("%s: got %q, %v", name, got.text, got.err)
		}
	}
}
