package fastchat

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"dragoman/adapters"
	"dragoman/adapters/llm"
)

func TestFind(t *testing.T) {
	f := func(answer, want string, status int) {
		t.Helper()
		ask := func(_ context.Context, call adapters.Call) ([]byte, error) {
			if got := call.Method + " " + call.Path + " " + string(call.Body); got != `POST /get_worker_address {"model":"a \"b\""}` {
				t.Errorf("asked %s", got)
			}
			return []byte(answer), nil
		}
		got, err := Adapter{}.Find(t.Context(), ask, `a "b"`)
		checkAnswer(t, answer, got == want, err, status)
	}
	f(`{"address":"http://h:21002"}`, "http://h:21002", 0)
	f(`{"address":""}`, "", 0)
	f(`{"address":null}`, "", http.StatusBadGateway)
	f(`{"models":[]}`, "", http.StatusBadGateway)
	f(`"http://h"`, "", http.StatusBadGateway)
	f("Internal Server Error", "", http.StatusBadGateway)
	f("", "", http.StatusBadGateway)
}

func TestModels(t *testing.T) {
	f := func(answer string, status int, want ...string) {
		t.Helper()
		ask := func(_ context.Context, call adapters.Call) ([]byte, error) {
			if got := call.Method + " " + call.Path + " " + string(call.Body); got != "POST /list_models " {
				t.Errorf("asked %s", got)
			}
			return []byte(answer), nil
		}
		got, err := Adapter{}.Models(t.Context(), ask)
		checkAnswer(t, answer, slices.Equal(got, want), err, status)
	}
	f(`{"models":["a","b"]}`, 0, "a", "b")
	f(`{"models":[]}`, 0)
	f(`{"models":["",7,null,"é\u00e9"]}`, 0, "éé")
	f(`{"models":{}}`, http.StatusBadGateway)
	f(`{"address":"x"}`, http.StatusBadGateway)
	f("<html>", http.StatusBadGateway)
}

// checkAnswer fails the test unless what came is right, or the error has this
// status.
func checkAnswer(t *testing.T, answer string, right bool, err error, status int) {
	t.Helper()
	e := (*llm.Error)(nil)
	if status == 0 && (err != nil || !right) || status != 0 && (!errors.As(err, &e) || e.Status != status) {
		t.Errorf("%s: right is %v, %v", answer, right, err)
	}
}
