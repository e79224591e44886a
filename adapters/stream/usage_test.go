package stream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
)

func TestUsage(t *testing.T) {
	f := func(body string, want llm.Usage) {
		t.Helper()
		req := &llm.Request{Prompt: prompt("12345678"), Stop: []string{"##"}}
		for name, r := range chunkings(body, nil) {
			if got := play(t, deltas, req, r); got.usage != want || got.err != nil {
				t.Errorf("%q, %s: got %+v, %v; want %+v", body, name, got.usage, got.err, want)
			}
		}
	}
	said := func(p, c int) llm.Usage { return llm.Usage{Prompt: p, Completion: c, Has: true} }
	guess := func(p, c int) llm.Usage { return llm.Usage{Prompt: p, Completion: c, Has: true, Estimated: true} }
	f(lines(`{"t":"a","p":5,"c":1}`, `{"t":"b","p":5,"c":2}`, `{"f":"stop"}`), said(5, 2)) // the last word counts
	f(lines(`{"p":5}`, `{"t":"a"}`, `{"f":"stop","c":3}`), said(5, 3))                     // said in two parts
	f(lines(`{"t":"a","f":"stop"}`, `{"p":5,"c":1}`), said(5, 1))                          // after the finish
	f(lines(`{"t":"a","p":5,"c":1}`, `{"f":"stop","p":0,"c":0}`), said(5, 1))              // zeros say nothing
	f(lines(`{"f":"stop","p":5,"c":0}`), said(5, 0))                                       // an empty answer
	f(lines(`{"t":"abcde","f":"stop"}`), guess(2, 2))
	f(lines(`{"t":"abcde##f","f":"stop"}`), guess(2, 2))
	f(lines(`{"t":"abcde","p":9,"f":"stop"}`), guess(9, 2))
}

func TestUsageOfMessages(t *testing.T) {
	req := &llm.Request{Messages: []llm.Message{{Role: "user", Content: "1234567890123456"}}}
	got := play(t, deltas, req, strings.NewReader(lines(`{"f":"stop"}`)))
	if want := (llm.Usage{Prompt: 5, Has: true, Estimated: true}); got.usage != want {
		t.Errorf("got %+v", got.usage)
	}
}

func collect(t *testing.T, a fake, req *llm.Request, body string, max int) (*Answer, error) {
	t.Helper()
	s, err := Open(context.Background(), answering(strings.NewReader(body)), a, req)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return Collect(s, max)
}

func TestCollect(t *testing.T) {
	f := func(a fake, req llm.Request, body, want string) {
		t.Helper()
		answer, err := collect(t, a, &req, body, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, c := range answer.Choices {
			tools, _ := json.Marshal(c.Tools)
			got.WriteString(string(c.Text) + "|" + string(c.Reasoning) + "|" + string(tools) + "|" + string(c.Finish) + ";")
		}
		if got.String() != want {
			t.Errorf("%q: got %s, want %s", body, got.String(), want)
		}
	}
	f(deltas, llm.Request{}, lines(`{"t":"a"}`, `{"r":"x"}`, `{"r":"y"}`, `{"t":"b","f":"stop"}`), "ab|xy|null|stop;")
	f(deltas, llm.Request{N: 2}, lines(`{"i":1,"t":"b","f":"length"}`, `{"t":"a","f":"stop"}`), "a||null|stop;b||null|length;")
	f(deltas, llm.Request{}, lines(`{"tool":"{\"a\""}`, `{"tool":":1}"}`, `{"f":"stop"}`), `||[{"ID":"c1","Name":"f","Arguments":"{\"a\":1}"}]|tool_calls;`)
	// A backend's own non-stream route: the body is one frame for the same decoder.
	unary := fake{traits: adapters.Traits{Framing: frame.NDJSON, Unary: true}}
	f(unary, llm.Request{}, "{\n\"t\":\"whole##\",\n\"f\":\"length\"}\n", "whole##||null|length;")
	f(unary, llm.Request{Stop: []string{"##"}}, `{"t":"whole##","f":"length"}`, "whole||null|stop;")
	f(unary, llm.Request{Stream: true}, lines(`{"t":"a"}`, `{"f":"stop"}`), "a||null|stop;")
	f(unary, llm.Request{}, `{"t":"no reason"}`, "no reason||null|stop;") // it is whole, as it could be read
}

func TestWhatEndsWithoutReason(t *testing.T) {
	unary := fake{traits: adapters.Traits{Framing: frame.NDJSON, Unary: true}}
	f := func(req llm.Request, body string) {
		t.Helper()
		if got := play(t, unary, &req, strings.NewReader(body)); !errors.Is(got.err, errNoReason) {
			t.Errorf("%s: got %+v, want %v", body, got, errNoReason)
		}
	}
	f(llm.Request{}, `{"t":""}`) // says nothing at all
	f(llm.Request{Stream: true}, `{"t":"cut"}`)
}

func TestCollectTooMuch(t *testing.T) {
	_, err := collect(t, deltas, &llm.Request{}, lines(`{"t":"abc"}`, `{"t":"def"}`, `{"f":"stop"}`), 5)
	if err == nil || !strings.Contains(err.Error(), "longer than 5 bytes") {
		t.Errorf("got %v", err)
	}
}

func TestCollectFails(t *testing.T) {
	if a, err := collect(t, deltas, &llm.Request{}, lines(`{"t":"abc"}`, `{"error":"boom"}`), 100); a != nil || err == nil {
		t.Errorf("got %v, %v", a, err)
	}
}
