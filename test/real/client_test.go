//go:build real

package real

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/test/harness"
)

var record = flag.Bool("record", false, "write the servers' bytes into the adapters' testdata")

// front is a gateway before a server, and what is between them.
type front struct {
	base     string // the gateway's URL
	tap      *tap   // nil: nothing is recorded
	path     string // the server's route that generates; "" is OpenAI's
	testdata string // where recordings go, below adapters
	model    string
	unary    bool // calls without stream are such calls of the server too
}

// script is a request and what must come of it.
type script struct {
	name    string // of the recording; "" is not recorded
	request string // members beside model and stream
	text    string // "": any, but the same streamed and whole
	finish  string
	usage   string // prompt/completion; "" is not compared
}

// result is an answer of the gateway, streamed or not.
type result struct{ text, finish, usage string }

// play asks for s streamed and whole, with the same outcome. The route follows
// from the request: a prompt or messages.
func (f *front) play(t *testing.T, s script) {
	t.Helper()
	t.Run(s.name, func(t *testing.T) {
		stream := fmt.Sprintf(`{"model": %q, "stream": true, "stream_options": {"include_usage": true}, %s}`, f.model, s.request)
		got := f.streamed(t, stream)
		f.save(t, s.name, stream)
		want := result{s.text, s.finish, s.usage}
		if s.text == "" && got.text != "" {
			want.text = got.text
		}
		if s.usage == "" {
			want.usage = got.usage
		}
		if got != want {
			t.Errorf("streamed: got %+v, want %+v", got, want)
		}
		unary := fmt.Sprintf(`{"model": %q, %s}`, f.model, s.request)
		whole := f.whole(t, unary)
		if want.usage == "estimated" { // some servers tell it only with a whole answer
			want.usage = whole.usage
		}
		if whole != want {
			t.Errorf("whole: got %+v, want %+v", whole, want)
		}
		if f.unary && s.name != "" {
			f.save(t, s.name+"-unary", unary)
		}
	})
}

// generates returns the server's route that the gateway asks for body.
func (f *front) generates(body string) string {
	if f.path == "" {
		return route(body)
	}
	return f.path
}

func route(body string) string {
	if strings.Contains(body, `"messages":`) {
		return "/v1/chat/completions"
	}
	return "/v1/completions"
}

type answer struct {
	Choices []struct {
		Text           string
		Message, Delta struct{ Content string }
		FinishReason   string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Estimated  bool
	}
}

func (r *result) add(t *testing.T, data string) {
	t.Helper()
	var a answer
	if err := json.Unmarshal([]byte(data), &a); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	for _, c := range a.Choices {
		r.text += c.Text + c.Message.Content + c.Delta.Content
		r.finish += c.FinishReason
	}
	if u := a.Usage; u != nil {
		r.usage = fmt.Sprintf("%d/%d", u.Prompt, u.Completion)
		if u.Estimated {
			r.usage = "estimated"
		}
	}
}

func (f *front) streamed(t *testing.T, body string) (r result) {
	t.Helper()
	frames := harness.Do(t, http.MethodPost, f.base+route(body), body).Frames(t)
	for i, data := range frames {
		switch {
		case i < len(frames)-1:
			r.add(t, data)
		case data != "[DONE]":
			t.Errorf("the last frame is %s", data)
		}
	}
	return r
}

func (f *front) whole(t *testing.T, body string) (r result) {
	t.Helper()
	a := harness.Do(t, http.MethodPost, f.base+route(body), body)
	if a.Status != http.StatusOK {
		t.Fatalf("status %d: %s", a.Status, a.Body)
	}
	r.add(t, string(a.Body))
	return r
}

// save writes the server's last answer and the client's request as a case of
// the adapter's contract. The gateway does not read on after an error.
func (f *front) save(t *testing.T, name, request string) {
	t.Helper()
	if !*record || name == "" || f.tap == nil {
		return
	}
	data, complete := f.tap.answer(f.generates(request))
	if !complete && !strings.Contains(name, "error") {
		t.Errorf("%s: no complete answer to record: %q", name, data)
		return
	}
	base := filepath.Join("../../adapters", f.testdata, "real-"+name)
	for ending, data := range map[string][]byte{".stream": data, ".request.json": []byte(request + "\n")} {
		if err := os.WriteFile(base+ending, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// open asks for a stream and reads its first line.
func (f *front) open(t *testing.T, request string) (rest *bufio.Reader, leave func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	body := fmt.Sprintf(`{"model": %q, "stream": true, %s}`, f.model, request)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.base+route(body), strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	rest = bufio.NewReader(res.Body)
	if line, err := rest.ReadString('\n'); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s (%v)", res.StatusCode, line, err)
	}
	return rest, cancel
}
