// Package adaptertest is the contract that every adapter passes. Its cases are
// data, in one folder for each adapter:
//
//	NAME.stream        the bytes of a backend's answer
//	NAME.request.json  the client's request; without it, request.json
//	NAME.call.txt      golden: what is sent to the backend (call.txt for request.json)
//	NAME.events.txt    golden: what comes out of package stream
//	created.json       the answer that comes before the stream, in protocols of two steps
//
// Each answer is replayed whole, byte by byte and cut at random, with the same
// outcome; and broken off behind every frame and in the middle of some, which
// must be an error unless the answer was complete by then. The flag -update
// writes the goldens anew. A README in the folder says where the bytes come
// from.
//
// Of a WebSocket, NAME.stream holds the messages, one in a line; a line "close
// 1011 WORDS" is how the server closes it. They are cut as the bytes of frames.
package adaptertest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
	"dragoman/adapters/stream/wstest"
)

var update = flag.Bool("update", false, "rewrite the golden files of adapters")

// Form is how the cases of a protocol that nobody can read are written down.
type Form struct {
	Answer func(t *testing.T, text []byte) []byte // the bytes that NAME.stream stands for; nil: itself
	Body   func(t *testing.T, body []byte) string // a call's body for NAME.call.txt; nil: itself
}

// Run tests a with the cases in dir.
func Run(t *testing.T, a adapters.Adapter, dir string) { RunForm(t, a, dir, Form{}) }

// RunForm is Run for cases that are written down in some form.
func RunForm(t *testing.T, a adapters.Adapter, dir string, form Form) {
	streams, err := filepath.Glob(filepath.Join(dir, "*.stream"))
	if err != nil || len(streams) == 0 {
		t.Fatalf("no *.stream in %s (%v)", dir, err)
	}
	for _, path := range streams {
		base := strings.TrimSuffix(path, ".stream")
		t.Run(filepath.Base(base), func(t *testing.T) {
			c := load(t, a, base, form)
			c.call(t)
			c.replay(t)
			c.breakOff(t)
		})
	}
}

// testCase is one recorded answer.
type testCase struct {
	adapter adapters.Adapter
	form    Form
	req     *llm.Request
	created []byte
	answer  []byte
	ends    []int // of the answer's frames, if it is a WebSocket's
	kind    frame.Kind
	base    string // path without endings
	calls   string // path of the golden call
}

func load(t *testing.T, a adapters.Adapter, base string, form Form) *testCase {
	t.Helper()
	c := &testCase{adapter: a, form: form, base: base, calls: base + ".call.txt", kind: a.Traits().Framing}
	request := base + ".request.json"
	if _, err := os.Stat(request); errors.Is(err, os.ErrNotExist) {
		request = filepath.Join(filepath.Dir(base), "request.json")
		c.calls = filepath.Join(filepath.Dir(base), "call.txt")
	}
	body, err := os.ReadFile(request)
	if err != nil {
		t.Fatal(err)
	}
	c.req = parseRequest(t, body, a.Traits())
	if c.answer, err = os.ReadFile(base + ".stream"); err != nil {
		t.Fatal(err)
	}
	if form.Answer != nil {
		c.answer = form.Answer(t, c.answer)
	}
	if _, ok := a.Decoder(c.req).(adapters.Follower); ok {
		if c.created, err = os.ReadFile(filepath.Join(filepath.Dir(base), "created.json")); err != nil {
			t.Fatal(err)
		}
	}
	if a.Traits().Unary && !c.req.Stream {
		c.kind = frame.Whole
	}
	if c.kind == frame.WS {
		c.answer, c.ends = messages(c.answer)
	}
	return c
}

// call compares what is sent, and that it is the same every time.
func (c *testCase) call(t *testing.T) {
	t.Helper()
	var got string
	for i := range 10 {
		call, err := c.adapter.Request(c.req)
		if err != nil {
			t.Fatalf("request: %v", err)
		}
		head, body := call.Method+" "+call.Path+"\n", string(call.Body)
		if i > 0 && head+body != got {
			t.Fatalf("the same request makes different calls:\n%s\n%s", got, head+body)
		}
		got = head + body
		if i == 9 && c.form.Body != nil {
			got = head + c.form.Body(t, call.Body)
		}
	}
	golden(t, c.calls, got+"\n")
}

// replay plays the answer in every way that a network may bring it.
func (c *testCase) replay(t *testing.T) {
	t.Helper()
	first := c.play(&answer{data: c.answer, cut: whole})
	want := first.text(c.kind)
	golden(t, c.base+".events.txt", want)
	first.check(t, c)
	same := func(how string, cut func(int) int) {
		t.Helper()
		if got := c.play(&answer{data: c.answer, cut: cut}).text(c.kind); got != want {
			t.Errorf("%s: got\n%swant\n%s", how, got, want)
		}
	}
	same("byte by byte", func(int) int { return 1 })
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 20))
		same("cut at random", func(n int) int { return 1 + rnd.IntN(n) })
	}
}

// breakOff ends the answer early: behind every frame as if the backend had
// closed properly, and there and in other places as if the connection broke.
// Only what the frames before said can make such an answer complete, or a
// protocol in which the end says it.
func (c *testCase) breakOff(t *testing.T) {
	t.Helper()
	for _, at := range c.frameEnds() {
		complete := c.broken(t, at)
		got := c.play(&answer{data: c.answer[:at], cut: whole})
		switch {
		case got.err != nil || complete:
		case !c.adapter.Traits().EOFIsFinish:
			t.Errorf("closed after %d bytes: passed off as complete:\n%s", at, got.text(c.kind))
		case !got.finished(c.req) || got.lines[len(got.lines)-1].value != string(llm.FinishStop):
			t.Errorf("closed after %d bytes: did not finish with stop:\n%s", at, got.text(c.kind))
		}
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		if len(c.answer) > 0 {
			c.broken(t, rnd.IntN(len(c.answer)))
		}
	}
}

// broken checks an answer of which the connection breaks after at bytes, and
// reports whether it was complete by then.
func (c *testCase) broken(t *testing.T, at int) bool {
	t.Helper()
	got := c.play(&answer{data: c.answer[:at], cut: whole, end: io.ErrUnexpectedEOF})
	complete := got.finished(c.req)
	if got.err == nil && !complete {
		t.Errorf("connection broken after %d bytes: passed off as complete:\n%s", at, got.text(c.kind))
	}
	return complete
}

func whole(n int) int { return n }

// frameEnds returns the offsets behind the frames of the answer, and 0.
func (c *testCase) frameEnds() []int {
	if c.kind == frame.WS {
		return c.ends
	}
	ends := []int{0}
	src := &answer{data: c.answer, cut: func(int) int { return 1 }}
	r := frame.NewReader(c.kind, src, 0)
	for {
		if _, err := r.Next(); err != nil {
			return ends
		}
		if src.pos < len(c.answer) {
			ends = append(ends, src.pos)
		}
	}
}

// play runs one answer through package stream.
func (c *testCase) play(body *answer) *outcome {
	body.created = c.created
	if c.kind == frame.WS && body.end == nil {
		body.data = slices.Concat(body.data, []byte(wstest.Close(1000, "")))
	}
	if c.kind == frame.GRPC {
		body.trailer = http.Header{"Grpc-Status": {"0"}}
	}
	up := &stream.Upstream{URL: "http://backend.test", Client: &http.Client{Transport: body}, Log: slog.New(slog.DiscardHandler)}
	o := &outcome{}
	s, err := stream.Open(context.Background(), up, c.adapter, c.req)
	if err != nil {
		o.err = err
		return o
	}
	defer s.Close()
	var events []llm.Event
	for err == nil {
		events, err = s.Next(events[:0])
		for i := range events {
			o.add(&events[i])
		}
	}
	if err != io.EOF {
		o.err = err
	}
	o.usage = s.Usage()
	return o
}

// answer is a backend that gives one answer, in pieces of the sizes that cut
// chooses from 1 to n, and then ends with end; nil is a proper end. Before it
// comes created, if that is set, and what is asked afterwards gets nothing.
type answer struct {
	created []byte
	data    []byte
	pos     int
	cut     func(n int) int
	end     error
	trailer http.Header
	given   bool
}

// RoundTrip implements http.RoundTripper.
func (a *answer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Upgrade") != "" {
		return wstest.Answer(req, wstest.Deaf(a)), nil
	}
	body := io.Reader(a)
	switch {
	case a.created != nil:
		body, a.created = bytes.NewReader(a.created), nil
	case a.given:
		body = strings.NewReader("")
	default:
		a.given = true
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Trailer: a.trailer, Body: io.NopCloser(body)}, nil
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	rest := a.data[a.pos:]
	if len(rest) == 0 {
		if a.end == nil {
			return 0, io.EOF
		}
		return 0, a.end
	}
	n := copy(p, rest[:a.cut(len(rest))])
	a.pos += n
	return n, nil
}
