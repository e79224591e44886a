package openai

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

func logged(text string, tokens ...llm.Logprob) *llm.Event {
	return &llm.Event{Text: []byte(text), Logprobs: tokens}
}

func logprob(token string, x float64, top ...llm.TopLogprob) llm.Logprob {
	return llm.Logprob{Token: []byte(token), Logprob: x, Top: top}
}

func top(token string, x float64) llm.TopLogprob {
	return llm.TopLogprob{Token: []byte(token), Logprob: x}
}

func TestCheck73_LogprobsStreamGolden(t *testing.T) {
	m := meta()
	m.Logprobs = true
	got := write(m, llm.Usage{},
		logged("Hi\"", logprob("Hi\"", -0.5, top("Hi\"", -0.5), top("\u2028", -1.5))),
		logged("🙂", logprob("\xf0\x9f", -2), logprob("\x99\x82", math.Inf(-1))),
		&llm.Event{Finish: llm.FinishStop})
	head := `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"m","choices":[{"index":0,"delta":`
	golden(t, got, head+`{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`+"\n\n"+
		head+`{"content":"Hi\""},"logprobs":{"content":[{"token":"Hi\"","logprob":-0.5,"bytes":[72,105,34],"top_logprobs":[`+
		`{"token":"Hi\"","logprob":-0.5,"bytes":[72,105,34]},{"token":"\u2028","logprob":-1.5,"bytes":[226,128,168]}]}],"refusal":null},"finish_reason":null}]}`+"\n\n"+
		head+`{"content":"🙂"},"logprobs":{"content":[{"token":"\\xf0\\x9f","logprob":-2,"bytes":[240,159],"top_logprobs":[]},`+
		`{"token":"\\x99\\x82","logprob":-9999,"bytes":[153,130],"top_logprobs":[]}],"refusal":null},"finish_reason":null}]}`+"\n\n"+
		head+`{},"logprobs":null,"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

func TestCompletionLogprobsStreamGolden(t *testing.T) {
	m := Meta{ID: "cmpl-1", Created: 1764500000, Model: "m", Kind: llm.Completion, Logprobs: true}
	got := write(m, llm.Usage{},
		logged("Öl", logprob("Ö", -0.5, top("Ö", -0.5), top("O", -1)), logprob("l", -1)),
		logged(" x", logprob(" x", -3, top("\xc3", -0.25), top("y", -2), top("y", -4))),
		&llm.Event{Finish: llm.FinishLength})
	head := `data: {"id":"cmpl-1","object":"text_completion","created":1764500000,"model":"m","choices":[{"index":0,"text":`
	golden(t, got,
		head+`"Öl","logprobs":{"tokens":["Ö","l"],"token_logprobs":[-0.5,-1],"top_logprobs":[{"Ö":-0.5,"O":-1},{"l":-1}],"text_offset":[0,1]},"finish_reason":null}]}`+"\n\n"+
			head+`" x","logprobs":{"tokens":[" x"],"token_logprobs":[-3],"top_logprobs":[{"bytes:\\xc3":-0.25,"y":-2," x":-3}],"text_offset":[2]},"finish_reason":null}]}`+"\n\n"+
			head+`"","logprobs":null,"finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
}

func TestAnswerWithLogprobs(t *testing.T) {
	f := func(m Meta, choice stream.AnswerChoice, want string) {
		t.Helper()
		m.Logprobs = true
		if got := string(AppendAnswer(nil, m, &stream.Answer{Choices: []stream.AnswerChoice{choice}})); !strings.Contains(got, `,"logprobs":`+want+`,"finish_reason":"stop"`) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	hi := stream.AnswerChoice{Text: []byte("Hi"), Logprobs: []llm.Logprob{logprob("H", -1), logprob("i", -0.5)}}
	f(meta(), hi, `{"content":[{"token":"H","logprob":-1,"bytes":[72],"top_logprobs":[]},{"token":"i","logprob":-0.5,"bytes":[105],"top_logprobs":[]}],"refusal":null}`)
	f(meta(), stream.AnswerChoice{}, `{"content":[],"refusal":null}`)
	f(Meta{Kind: llm.Completion}, hi, `{"tokens":["H","i"],"token_logprobs":[-1,-0.5],"top_logprobs":[{"H":-1},{"i":-0.5}],"text_offset":[0,1]}`)
}

// However much comes at once, lines stay short and no token is lost.
func TestLogprobsInManyLines(t *testing.T) {
	f := func(count int, token string, tops int) {
		t.Helper()
		text, tokens := "", []llm.Logprob(nil)
		for i := range count {
			one := logprob(token, -1)
			for range tops {
				one.Top = append(one.Top, top(token, -1))
			}
			tokens = append(tokens, one)
			if i%3 > 0 { // the backend's tokens may not add up to its text
				text += token
			}
		}
		m := meta()
		m.Logprobs = true
		chunks := frames(t, write(m, llm.Usage{}, logged(text, tokens...), &llm.Event{Finish: llm.FinishStop}))
		if got := joined(t, chunks, 0, "content"); got != text {
			t.Errorf("%d tokens %.20q: text of %d bytes, want %d", count, token, len(got), len(text))
		}
		got := strings.Count(fmt.Sprint(chunks), "top_logprobs:")
		if want := count; got != want {
			t.Errorf("%d tokens %.20q: %d came", count, token, got)
		}
	}
	f(1, "a", 20)
	f(90, "word", 20)
	f(20, strings.Repeat("\x01", 100), 20)
	f(3, strings.Repeat("é", 1<<10), 0)
	f(700, "\u2028", 0)
}

func TestTokensThatAreTooLongAreLeftOut(t *testing.T) {
	m := meta()
	m.Logprobs = true
	long := strings.Repeat("x", 10<<10)
	chunks := frames(t, write(m, llm.Usage{}, logged(long+"a", logprob(long, -1), logprob("a", -1)), &llm.Event{Finish: llm.FinishStop}))
	if got := strings.Count(fmt.Sprint(chunks), "top_logprobs:"); got != 1 || joined(t, chunks, 0, "content") != long+"a" {
		t.Errorf("%d tokens", got)
	}
}

func TestLogprobsAreRead(t *testing.T) {
	f := func(body string, on bool, top int) {
		t.Helper()
		if r := accept(t, body).Request; r.Logprobs != on || r.TopLogprobs != top {
			t.Errorf("%s: got %t, %d", body, r.Logprobs, r.TopLogprobs)
		}
	}
	f(chat(``), false, 0)
	f(chat(`"logprobs":false,"top_logprobs":0`), false, 0)
	f(chat(`"logprobs":true`), true, 0)
	f(chat(`"logprobs":true,"top_logprobs":20`), true, 20)
	f(completion(`"logprobs":null`), false, 0)
	f(completion(`"logprobs":0`), true, 0)
	f(completion(`"logprobs":5`), true, 5)
	refuse(t, completion(`"logprobs":1,"echo":true`), "echo", "unsupported_value")
}
