package prompt

import "testing"

func TestNamedTemplatesCompile(t *testing.T) {
	for _, name := range Names() {
		if _, err := Named(name); err != nil {
			t.Error(err)
		}
	}
}
