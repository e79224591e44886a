package field

import (
	"testing"

	"dragoman/adapters/builtin"
	"dragoman/test/harness"
)

// Legacy functions want an answer with message.function_call, which nothing
// writes yet: they are refused by every backend, never answered otherwise
// (docs/adr/0001).
func TestLegacyFunctionsAreRefused(t *testing.T) {
	for name := range builtin.All() {
		backend := harness.NewBackend(t, func(harness.Received) harness.Reply { return harness.Reply{Status: 500} })
		base := harness.Gateway(t, harness.Case{Adapter: name}.Config(backend.URL))
		answer := harness.Chat(t, base, `"functions":[{"name":"f","parameters":{}}]`)
		if answer.Status != 400 || *answer.Error(t).Param != "functions" {
			t.Errorf("%s: %d %s", name, answer.Status, answer.Body)
		}
		if backend.Requests() != 0 {
			t.Errorf("%s: the request went on", name)
		}
	}
}
