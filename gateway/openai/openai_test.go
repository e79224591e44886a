package openai

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"dragoman/adapters/llm"
)

// chat wraps members into a chat request that is otherwise complete.
func chat(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"model":"m","messages":[{"role":"user","content":"hi"}]` + members + `}`
}

// completion does so for a completions request.
func completion(members string) string {
	if members != "" {
		members = "," + members
	}
	return `{"model":"m","prompt":"Once"` + members + `}`
}

func parse(body string) (*Ask, error) {
	if strings.Contains(body, `"prompt"`) {
		return ParseCompletion([]byte(body))
	}
	return ParseChat([]byte(body))
}

func accept(t *testing.T, body string) *Ask {
	t.Helper()
	ask, err := parse(body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return ask
}

// refuse wants a 400 with that code and param, and a message.
func refuse(t *testing.T, body, param, code string) {
	t.Helper()
	_, err := parse(body)
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		t.Fatalf("%.200s: %v, want an *llm.Error", body, err)
	}
	if e.Status != 400 || e.Type != "invalid_request_error" || e.Param != param || e.Code != code || e.Message == "" {
		t.Errorf("%.200s: status %d, type %s, param %q, code %q, want 400, param %q, code %q\n%s",
			body, e.Status, e.Type, e.Param, e.Code, param, code, e.Message)
	}
}

// needs lists the request's needs as field@path.
func needs(a *Ask) string {
	var all []string
	for _, n := range a.Request.Needs {
		all = append(all, n.Field+"@"+n.Path)
	}
	return strings.Join(all, " ")
}

func wantNeeds(t *testing.T, body, want string) {
	t.Helper()
	if got := needs(accept(t, body)); got != want {
		t.Errorf("%s\nneeds %q, want %q", body, got, want)
	}
}

func meta() Meta {
	return Meta{ID: "chatcmpl-1", Created: 1764500000, Model: "m"}
}

// frames checks the framing of a whole stream and returns its JSON objects.
func frames(t *testing.T, stream []byte) []map[string]any {
	t.Helper()
	body, ok := strings.CutSuffix(string(stream), "data: [DONE]\n\n")
	if !ok || !utf8.Valid(stream) {
		t.Fatalf("does not end with [DONE], or is not UTF-8: %.300q", stream)
	}
	var all []map[string]any
	for body != "" {
		frame, rest, _ := strings.Cut(body, "\n\n")
		data, ok := strings.CutPrefix(frame, "data: ")
		var object map[string]any
		if err := json.Unmarshal([]byte(data), &object); !ok || err != nil || strings.ContainsAny(data, "\r\n\u2028\u2029\u0085") {
			t.Fatalf("bad frame %.300q: %v", frame, err)
		}
		if len(frame) >= 64<<10 {
			t.Errorf("a line of %d bytes", len(frame))
		}
		all = append(all, object)
		body = rest
	}
	return all
}

// joined returns the text of a choice in a stream's chunks.
func joined(t *testing.T, chunks []map[string]any, index int, member string) string {
	t.Helper()
	var text strings.Builder
	for _, chunk := range chunks {
		for _, c := range chunk["choices"].([]any) {
			c := c.(map[string]any)
			if c["index"].(float64) != float64(index) {
				continue
			}
			holder := c
			if delta, ok := c["delta"].(map[string]any); ok {
				holder = delta
			}
			if s, ok := holder[member].(string); ok {
				text.WriteString(s)
			}
		}
	}
	return text.String()
}

// golden compares line by line.
func golden(t *testing.T, got []byte, want string) {
	t.Helper()
	want = strings.TrimLeft(want, "\n")
	if string(got) == want {
		return
	}
	g, w := strings.SplitAfter(string(got), "\n"), strings.SplitAfter(want, "\n")
	for i := range max(len(g), len(w)) {
		switch {
		case i >= len(g):
			t.Fatalf("line %d is missing, want %s", i+1, w[i])
		case i >= len(w):
			t.Fatalf("line %d is one too many: %s", i+1, g[i])
		case g[i] != w[i]:
			t.Fatalf("line %d is\n%s, want\n%s", i+1, g[i], w[i])
		}
	}
}

// cuttings gives the runes of text whole, one by one, and cut at random.
func cuttings(text string) [][]string {
	all := [][]string{{text}, strings.Split(text, "")}
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 7))
		var pieces []string
		runes := []rune(text)
		for len(runes) > 0 {
			n := 1 + r.IntN(len(runes))
			pieces = append(pieces, string(runes[:n]))
			runes = runes[n:]
		}
		all = append(all, pieces)
	}
	return all
}
