package openai

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"dragoman/adapters/llm"
)

func TestTokenCheck(t *testing.T) {
	f := func(body string, want ...TokenCheck) {
		t.Helper()
		if got, err := ParseTokenCheck([]byte(body)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", body, got, err)
		}
	}
	f(`{"prompts":[{"model":"m","prompt":"Hi \"you\"","max_tokens":7},{"max_tokens":0,"prompt":"","model":"n","x":1}]}`,
		TokenCheck{"m", `Hi "you"`, 7}, TokenCheck{"n", "", 0})
	f(`{"prompts":[]}`)

	bad := func(body, param, code string) {
		t.Helper()
		_, err := ParseTokenCheck([]byte(body))
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.Status != 400 || e.Param != param || e.Code != code {
			t.Errorf("%.100s: got %v, %+v", body, err, e)
		}
	}
	bad(``, "", "invalid_json")
	bad(`{}`, "prompts", "missing_required_parameter")
	bad(`{"prompts":{}}`, "prompts", "invalid_type")
	bad(`{"prompts":["x"]}`, "prompts[0]", "invalid_type")
	bad(`{"prompts":[{"model":"m","prompt":"x","max_tokens":1},{"prompt":"x","max_tokens":1}]}`, "prompts[1].model", "missing_required_parameter")
	bad(`{"prompts":[{"model":"m","prompt":7,"max_tokens":1}]}`, "prompts[0].prompt", "invalid_type")
	bad(`{"prompts":[{"model":"m","prompt":"x"}]}`, "prompts[0].max_tokens", "missing_required_parameter")
	bad(`{"prompts":[{"model":"m","prompt":"x","max_tokens":"1"}]}`, "prompts[0].max_tokens", "invalid_type")
	bad(`{"prompts":[{"model":"m","prompt":"x","max_tokens":-1}]}`, "prompts[0].max_tokens", "invalid_value")
	bad(`{"prompts":[{"model":"m","prompt":"x","max_tokens":-1e99}]}`, "prompts[0].max_tokens", "invalid_value")
	bad(`{"prompts":[{"model":"m","prompt":"x","max_tokens":1e99}]}`, "prompts[0].max_tokens", "invalid_value")
	bad(`{"prompts":[{"model":"m","model":"n","prompt":"x","max_tokens":1}]}`, "prompts[0].model", "invalid_json")
	bad(`{"prompts":[`+strings.Repeat(`{"model":"m","prompt":"x","max_tokens":1},`, maxChecks)+`{}]}`, "prompts", "invalid_value")
}

func TestTokenCounts(t *testing.T) {
	f := func(want string, counts ...TokenCount) {
		t.Helper()
		if got := string(AppendTokenCounts(nil, counts)); got != want {
			t.Errorf("got %s", got)
		}
	}
	f(`{"prompts":[]}`)
	f(`{"prompts":[{"fits":true,"tokenCount":3,"contextLength":2048},{"fits":false,"tokenCount":9,"contextLength":8}]}`,
		TokenCount{3, 2048, true}, TokenCount{9, 8, false})
}
