package prompt

import (
	"strings"
	"testing"
)

func TestFormatErrors(t *testing.T) {
	f := func(src, words string) {
		t.Helper()
		if got, err := evaluate(src, ""); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %q, %v", src, got, err)
		}
	}
	f("{{ '%s%s' | format(1) }}", "not enough")
	f("{{ '%s' | format(1, 2) }}", "too many")
	f("{{ '%(a)s' | format(b=1) }}", "not enough")
	f("{{ 'a%' | format(1) }}", "incomplete")
	f("{{ '%d' | format('x') }}", "does not take")
	f("{{ '%q' | format('x') }}", "does not take")
	f("{{ '%999999s' | format('x') }}", "too wide")
	f("{{ x | format(1) }}", `unknown filter "format"`)
}
