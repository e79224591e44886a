package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
	"dragoman/adapters/parse"
	"dragoman/adapters/stream/wstest"
)

// fake is an adapter whose frames are JSON objects of obvious members
// ({"i","t","r","tool","f","p","c","error"}), or text if plain is set.
type fake struct {
	traits adapters.Traits
	plain  bool
	header http.Header // of calls
}

func (a fake) Traits() *adapters.Traits { return &a.traits }

func (a fake) Request(req *llm.Request) (adapters.Call, error) {
	if a.traits.Framing == frame.GRPC {
		return adapters.PostGRPC("/test.Service/Stream", []byte(req.Prompt.Text())), nil
	}
	return adapters.Call{Path: "/gen", Header: a.header, Body: []byte(`{"p":"` + req.Prompt.Text() + `"}`)}, nil
}

func (a fake) Decoder(*llm.Request) adapters.Decoder { return &fakeDecoder{plain: a.plain} }

type fakeDecoder struct {
	plain bool
	tool  llm.ToolDelta
}

func (d *fakeDecoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if d.plain {
		return append(dst, llm.Event{Text: fr.Data}), nil
	}
	if err := jsonscan.Valid(fr.Data, 128); err != nil {
		return dst, err
	}
	text := unsafe.String(unsafe.SliceData(fr.Data), len(fr.Data)) // no copy of the frame
	var ev llm.Event
	var failed error
	gjson.Parse(text).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "i":
			ev.Choice = int(v.Num)
		case "t":
			ev.Text = unsafe.Slice(unsafe.StringData(v.Str), len(v.Str))
		case "r":
			ev.Reasoning = []byte(v.Str)
		case "tool":
			d.tool = llm.ToolDelta{ID: "c1", Name: "f", Arguments: []byte(v.Str)}
			ev.Tool = &d.tool
		case "f":
			ev.Finish = llm.Finish(v.Str)
		case "p":
			ev.Usage.Prompt, ev.Usage.Has = int(v.Num), true
		case "c":
			ev.Usage.Completion, ev.Usage.Has = int(v.Num), true
		case "error":
			failed = llm.Upstream(502, "", "%s", v.Str)
		}
		return true
	})
	if failed != nil {
		return dst, failed
	}
	return append(dst, ev), nil
}

// roundTrip is a backend without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering returns a backend that answers with what r holds, over a WebSocket
// if it is asked to.
func answering(r io.Reader) *Upstream {
	return &Upstream{
		URL: "http://backend.test:1234",
		Log: slog.New(slog.DiscardHandler),
		Client: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Header.Get("Upgrade") != "" {
				return wstest.Answer(req, wstest.Deaf(r)), nil
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(r)}, nil
		})},
	}
}

// outcome is what a caller saw: per choice the text, "(reasoning)" and "{tool
// arguments}" in order, then "!finish"; choices in order of their index.
type outcome struct {
	text  string
	usage llm.Usage
	err   error
}

// play runs an answer to its end and checks what holds for all of them.
func play(t testing.TB, a adapters.Adapter, req *llm.Request, body io.Reader) outcome {
	t.Helper()
	return playParsed(t, a, req, nil, body)
}

// playParsed is play for text that may be more than an answer's.
func playParsed(t testing.TB, a adapters.Adapter, req *llm.Request, plan *parse.Plan, body io.Reader) outcome {
	t.Helper()
	s, err := OpenParsed(context.Background(), answering(body), a, req, plan)
	if err != nil {
		return outcome{err: err}
	}
	defer s.Close()
	texts := make([]strings.Builder, max(req.N, 1))
	done := make([]bool, len(texts))
	var events []llm.Event
	for {
		events, err = s.Next(events[:0])
		if err != nil {
			break
		}
		if len(events) == 0 {
			t.Fatal("Next returned neither events nor an error")
		}
		for _, ev := range events {
			if done[ev.Choice] {
				t.Errorf("choice %d: an event after the finish", ev.Choice)
			}
			if !utf8.Valid(ev.Text) || !utf8.Valid(ev.Reasoning) {
				t.Errorf("invalid UTF-8: %q %q", ev.Text, ev.Reasoning)
			}
			w := &texts[ev.Choice]
			if len(ev.Reasoning) > 0 {
				fmt.Fprintf(w, "(%s)", ev.Reasoning)
			}
			w.Write(ev.Text)
			if ev.Tool != nil {
				fmt.Fprintf(w, "{%s}", ev.Tool.Arguments)
			}
			if ev.Finish != "" {
				fmt.Fprintf(w, "!%s", ev.Finish)
				done[ev.Choice] = true
			}
		}
	}
	if _, again := s.Next(nil); again != err {
		t.Errorf("the error %v was followed by %v", err, again)
	}
	out := outcome{usage: s.Usage(), err: err}
	for i := range texts {
		if i > 0 {
			out.text += " / "
		}
		out.text += texts[i].String()
		if err == io.EOF && !done[i] {
			t.Errorf("choice %d has no finish", i)
		}
	}
	if err == io.EOF {
		out.err = nil
	}
	out.text = strings.ReplaceAll(out.text, ")(", "")
	return out
}

// chunkings returns readers of the same bytes: in one read, byte by byte, and
// cut at up to 20 random places.
func chunkings(data string, end error) map[string]io.Reader {
	last := io.MultiReader()
	if end != nil {
		last = iotest.ErrReader(end)
	}
	m := map[string]io.Reader{
		"whole": io.MultiReader(strings.NewReader(data), last),
		"bytes": io.MultiReader(iotest.OneByteReader(strings.NewReader(data)), last),
	}
	for seed := range uint64(3) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		var parts []io.Reader
		rest := []byte(data)
		for len(rest) > 0 && len(parts) < 20 {
			n := 1 + rnd.IntN(len(rest))/2
			parts, rest = append(parts, bytes.NewReader(rest[:n])), rest[n:]
		}
		m[fmt.Sprintf("cuts%d", seed)] = io.MultiReader(append(parts, bytes.NewReader(rest), last)...)
	}
	return m
}

var errReset = errors.New("connection reset by peer")

func prompt(s string) llm.Prompt { return llm.Prompt{{Text: s}} }

func (a fake) call() adapters.Call { return adapters.Call{Path: "/ask"} }
