package text_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"dragoman/adapters/builtin"
	"dragoman/adapters/llm"
	"dragoman/adapters/stream"
)

// kobold is a KoboldCpp that is asked once: what it answers, and the keys of the
// answer and of the calls that ended it.
type kobold struct {
	answer  func(r *http.Request) (*http.Response, error)
	asked   string
	aborted []string
}

// RoundTrip implements http.RoundTripper.
func (k *kobold) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	key := gjson.GetBytes(body, "genkey").Str
	if r.URL.Path != "/api/extra/abort" {
		k.asked = key
		return k.answer(r)
	}
	k.aborted = append(k.aborted, key)
	return said(`{"success":"true"}`), r.Context().Err()
}

func said(body string) *http.Response {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func (k *kobold) open(ctx context.Context, t *testing.T, stop ...string) (*stream.Stream, error) {
	t.Helper()
	up := &stream.Upstream{URL: "http://kobold.test", Client: &http.Client{Transport: k}, Log: slog.New(slog.DiscardHandler)}
	return stream.Open(ctx, up, builtin.All()["kobold"], &llm.Request{ID: "K7", N: 1, Stop: stop, Prompt: llm.Prompt{{Text: "Hi"}}})
}

const (
	begun    = "data: {\"token\":\"Hi END\",\"finish_reason\":null}\n\n"
	finished = begun + "data: {\"token\":\"\",\"finish_reason\":\"stop\"}\n\n"
)

// TestAbort: an answer that is not wanted any more is ended by its key, once,
// wherever it was; one that has ended is not.
func TestAbort(t *testing.T) {
	gives := func(body string) func(*http.Request) (*http.Response, error) {
		return func(*http.Request) (*http.Response, error) { return said(body), nil }
	}
	f := func(what string, answer func(*http.Request) (*http.Response, error), read, want bool, stop ...string) {
		t.Helper()
		ctx, leave := context.WithCancel(t.Context())
		k := &kobold{answer: func(r *http.Request) (*http.Response, error) {
			if answer == nil { // the client leaves before the first byte
				leave()
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return answer(r)
		}}
		s, err := k.open(ctx, t, stop...)
		for read && err == nil {
			_, err = s.Next(nil)
		}
		leave()
		if s != nil {
			s.Close()
			s.Close()
		}
		if k.asked != "K7" || (len(k.aborted) == 1) != want || len(k.aborted) > 1 || want && k.aborted[0] != k.asked {
			t.Errorf("%s: asked with %q, aborted %q", what, k.asked, k.aborted)
		}
	}
	f("the client leaves before the first byte", nil, false, true)
	f("the client leaves amid the answer", gives(begun), false, true)
	f("a stop string has come", gives(finished), true, true, "END")
	f("the answer is complete", gives(finished), true, false)
	f("the answer broke off", gives(begun), true, false)
	f("the connection was refused", func(*http.Request) (*http.Response, error) { return nil, errors.New("refused") }, false, false)
}
