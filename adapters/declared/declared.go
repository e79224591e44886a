package declared

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"dragoman/adapters"
	"dragoman/adapters/frame"
	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// Adapter implements adapters.Adapter as its Spec says.
type Adapter struct{ spec *Spec }

var _ adapters.Adapter = (*Adapter)(nil)

// New returns the adapter that s describes.
func New(s *Spec) *Adapter { return &Adapter{s} }

// Traits implements adapters.Adapter.
func (a *Adapter) Traits() *adapters.Traits { return &a.spec.traits }

// Request implements adapters.Adapter.
func (a *Adapter) Request(req *llm.Request) (adapters.Call, error) {
	made := a.spec.call.make(req)
	if t := &a.spec.traits; t.Framing == frame.SSE && (req.Stream || !t.Unary) { // some answer in one piece otherwise
		made.Header.Set("Accept", "text/event-stream")
	}
	return made, nil
}

// make writes the call for req.
func (c *call) make(req *llm.Request) adapters.Call {
	body, ok := c.body.object(nil, req)
	if !ok {
		body = []byte("{}")
	}
	path := c.path
	if strings.Contains(path, "{") {
		path = strings.NewReplacer("{model}", url.PathEscape(req.Model), "{id}", url.PathEscape(req.ID)).Replace(path)
	}
	made := adapters.PostJSON(path, body)
	made.Method = c.method
	return made
}

// Decoder implements adapters.Adapter.
func (a *Adapter) Decoder(req *llm.Request) adapters.Decoder {
	d := &decoder{reader: &a.spec.reader, found: make([][]byte, len(a.spec.reader.finder))}
	if a.spec.cancel == nil {
		return d
	}
	return &cancelable{decoder: d, call: a.spec.cancel, req: req}
}

// cancelable is the decoder of answers that end by a call of their own.
type cancelable struct {
	*decoder
	call *call
	req  *llm.Request
}

// Cancel implements adapters.Canceler.
func (c *cancelable) Cancel() (adapters.Call, bool) { return c.call.make(c.req), true }

// reader is how a frame is read. Places are indexes into what finder finds.
type reader struct {
	plain                          bool // frames are the text
	cumulative                     bool
	finder                         finder
	text, reasoning                []int // the first that is there counts
	finish                         int   // this and those below are -1 if not told
	promptTokens, completionTokens int
	frameTokens, code              int
	message                        []int // the first that is there counts
	finishMap                      map[string]llm.Finish
	failed                         []*condition // any of them
	skip, done                     *condition
	statuses                       map[string]int
}

type decoder struct {
	*reader
	found                 [][]byte
	textBuf, reasoningBuf buffer
	tokens                int // of the frames so far, if each tells its own
}

// buffer holds the unescaped text of a frame, or of all frames so far.
type buffer struct {
	text    []byte
	growing jsonscan.Growing
}

// Decode implements adapters.Decoder.
func (d *decoder) Decode(dst []llm.Event, fr frame.Frame) ([]llm.Event, error) {
	if fr.Event == "error" {
		return dst, told(fr.Data)
	}
	if d.plain {
		return append(dst, llm.Event{Text: fr.Data}), nil
	}
	if err := adapters.CheckJSON(fr.Data); err != nil {
		return dst, err
	}
	d.finder.find(fr.Data, d.found)
	for _, sign := range d.failed {
		if sign.met(d.found) {
			return dst, d.failure(sign)
		}
	}
	var ev llm.Event
	var err error
	if !d.skip.met(d.found) {
		if ev.Text, err = d.words(&d.textBuf, d.text); err != nil {
			return dst, err
		}
		if ev.Reasoning, err = d.words(&d.reasoningBuf, d.reasoning); err != nil {
			return dst, err
		}
	}
	if n := d.at(d.promptTokens); !adapters.IsNull(n) {
		ev.Usage.Prompt, ev.Usage.Has = adapters.Int(n), true
	}
	if n := d.at(d.completionTokens); !adapters.IsNull(n) {
		ev.Usage.Completion, ev.Usage.Has = adapters.Int(n), true
	}
	if n := d.at(d.frameTokens); !adapters.IsNull(n) {
		d.tokens += max(adapters.Int(n), 0)
		ev.Usage.Completion, ev.Usage.Has = d.tokens, true
	}
	if d.done == nil || d.done.met(d.found) {
		if ev.Finish, err = d.reason(); err != nil {
			return dst, err
		}
	}
	return append(dst, ev), nil
}

// at returns the value at a place, nil for none.
func (d *decoder) at(place int) []byte {
	if place < 0 {
		return nil
	}
	return d.found[place]
}

// words returns the first string that is at one of places.
func (d *decoder) words(b *buffer, places []int) ([]byte, error) {
	var odd []byte
	for _, place := range places {
		value := d.found[place]
		switch {
		case adapters.IsNull(value):
		case value[0] != '"':
			odd = value
		case d.cumulative:
			return b.growing.Text(value), nil
		default:
			b.text = jsonscan.AppendUnquoted(b.text[:0], value)
			return b.text, nil
		}
	}
	if odd != nil {
		return nil, fmt.Errorf("text that is no string: %s", adapters.Clip(odd, 80))
	}
	return nil, nil
}

// word returns a JSON scalar as text.
func word(value []byte) string {
	if adapters.IsNull(value) {
		return ""
	}
	if value[0] == '"' {
		return adapters.Text(value)
	}
	return string(value)
}

// reason returns why the answer ended, if the frame says so.
func (d *decoder) reason() (llm.Finish, error) {
	w := word(d.at(d.finish))
	if w == "" || d.finishMap[w] == finishNone {
		if d.done != nil {
			return llm.FinishStop, nil
		}
		return "", nil
	}
	if d.finishMap[w] == finishError {
		return "", llm.Upstream(http.StatusBadGateway, "", "The backend broke its answer off (%s).", adapters.Clip(w, 64))
	}
	return adapters.FinishWord(w, d.finishMap)
}

// failure is the error that the frame tells of, by the sign that was seen.
func (d *decoder) failure(sign *condition) *llm.Error {
	said := adapters.ReadProblem(d.found[sign.slot])
	for _, place := range d.message {
		if text := word(d.found[place]); text != "" {
			said.Message = text
			break
		}
	}
	return said.Failure(d.statuses[word(d.at(d.code))])
}

// told is the error of an event named error: JSON, or its words.
func told(data []byte) *llm.Error {
	if adapters.CheckJSON(data) == nil {
		if said := adapters.ReadProblem(data); said.Message != "" {
			return said.Failure(0)
		}
	}
	return adapters.Failure(http.StatusBadGateway, adapters.Clip(data, 500))
}
