package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Answer is what the gateway sent back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Err    error // the body ended badly
}

// Do sends body to the gateway and reads the whole answer.
func Do(t testing.TB, method, url, body string, header ...string) Answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return Answer{Status: res.StatusCode, Header: res.Header, Body: got, Err: err}
}

// Chat asks base for a chat completion of one user message "Q:". extra is
// merged into the request, such as `"stream":true,"stop":["x"]`.
func Chat(t testing.TB, base, extra string) Answer {
	t.Helper()
	body := `{"model":"m","messages":[{"role":"user","content":"Q:"}]`
	if extra != "" {
		body += "," + extra
	}
	return Do(t, http.MethodPost, base+"/v1/chat/completions", body+"}")
}

// Frames returns the payloads of an event stream after checking its bytes:
// every frame is "data: ", one line, LF LF; the body ends properly.
func (a Answer) Frames(t testing.TB) []string {
	t.Helper()
	if a.Status != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		t.Fatalf("no stream: %d %s %s", a.Status, a.Header.Get("Content-Type"), a.Body)
	}
	if a.Err != nil {
		t.Fatalf("the body ended badly: %v", a.Err)
	}
	body, ok := bytes.CutSuffix(a.Body, []byte("\n\n"))
	if !ok {
		t.Fatalf("the last frame is not ended: %q", tail(a.Body))
	}
	var frames []string
	for _, f := range strings.Split(string(body), "\n\n") {
		payload, ok := strings.CutPrefix(f, "data: ")
		if !ok || strings.ContainsAny(payload, "\n\r\u2028\u2029\u0085") || len(f) >= 64<<10 {
			t.Fatalf("bad frame (%d bytes): %.200q", len(f), f)
		}
		frames = append(frames, payload)
	}
	return frames
}

func tail(b []byte) []byte { return b[max(0, len(b)-200):] }

// ErrorObject is OpenAI's error.
type ErrorObject struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// Error returns the error object of an answer that is no stream, after checking
// its form.
func (a Answer) Error(t testing.TB) ErrorObject {
	t.Helper()
	if a.Status < 400 {
		t.Fatalf("status %d, an error was expected: %.300s", a.Status, a.Body)
	}
	if got := a.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/json") {
		t.Fatalf("error with Content-Type %q", got)
	}
	return parseError(t, string(a.Body))
}

func parseError(t testing.TB, body string) ErrorObject {
	t.Helper()
	var keys struct {
		Error map[string]json.RawMessage `json:"error"`
	}
	var object struct {
		Error ErrorObject `json:"error"`
	}
	if err := json.Unmarshal([]byte(body), &keys); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if err := json.Unmarshal([]byte(body), &object); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	if len(keys.Error) != 4 || object.Error.Message == "" || object.Error.Type == "" {
		t.Fatalf("error object lacks a member or has others: %s", body)
	}
	return object.Error
}

// Want fails the test unless the error has this status, code and param; "" as
// param is null.
func (a Answer) Want(t testing.TB, status int, code, param string) {
	t.Helper()
	e := a.Error(t)
	got := fmt.Sprintf("%d %s %s", a.Status, str(e.Code), str(e.Param))
	if want := fmt.Sprintf("%d %s %s", status, code, param); got != want {
		t.Errorf("got error %q, want %q: %s", got, want, a.Body)
	}
}

func str(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Content returns the text of choice 0 of a chat completion.
func (a Answer) Content(t testing.TB) string {
	t.Helper()
	var body struct {
		Object  string
		Choices []struct {
			Message struct{ Content *string }
		}
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || body.Object != "chat.completion" || len(body.Choices) == 0 {
		t.Fatalf("no chat completion: %d %s", a.Status, a.Body)
	}
	return str(body.Choices[0].Message.Content)
}
