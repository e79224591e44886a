package prompt

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ardanlabs/jinja"
)

// TestHostileTemplates are programs that would end the process, hang or take
// all memory without guards. Each must end in an error.
func TestHostileTemplates(t *testing.T) {
	f := func(name, src, words string) {
		t.Helper()
		out, err := evaluate(src, "")
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %.40q, %v", name, out, err)
		}
	}
	f("recursive macro", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested too deep")
	f("two macros", "{% macro a() %}{% set x = b() %}{% endmacro %}{% macro b() %}{% set x = a() %}{% endmacro %}{{ a() }}", "nested too deep")
	f("macro default", "{% macro m(x=m()) %}{% endmacro %}{{ m() }}", "default value")
	f("recursive loop", "{% set l = [1] %}{% for x in l recursive %}{{ loop(l) }}{% endfor %}", "recurse too deep")
	f("caller", "{% macro m() %}{{ caller() }}{% endmacro %}{% macro r() %}{% call m() %}{{ r() }}{% endcall %}{% endmacro %}{{ r() }}", "nested too deep")
	f("caller kept", "{% set ns = namespace(c=none) %}{% macro m() %}{% set ns.c = caller %}{{ caller() }}{% endmacro %}{% call m() %}{{ ns.c() }}{% endcall %}", "nested too deep")
	f("shadowed range", "{% macro range(n) %}{{ range(n) }}{% endmacro %}{{ range(3) }}", "nested too deep")
	f("nested loops", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "too many steps")
	f("loop with break", "{% for i in range(4611686018427387904) %}{% break %}{% endfor %}", "range is too long")
	f("backward range", "{{ range(9223372036854775807, -9223372036854775808, -1) | length }}", "range is too long")
	f("many ranges", "{% set ns = namespace(l=[]) %}{% for i in range(99) %}{% set ns.l = ns.l + [range(99999)] %}{% endfor %}", "too many steps")
	f("string doubling", "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}", "too large")
	f("unrolled doubling", "{% set s = 'aaaaaaaa' %}"+strings.Repeat("{% set s %}{{ s }}{{ s }}{% endset %}", 40), "too large")
	f("replace", "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(30) %}{% set ns.s = ns.s | replace('a', 'aaaaaaaa') %}{% endfor %}", "too large")
	f("list doubling", "{% set ns = namespace(l=[1, 2, 3]) %}{% for i in range(50) %}{% set ns.l = ns.l + ns.l %}{% endfor %}", "too many steps")
	f("long string", "{{ ('a' * 10000000000) | length }}", "")
	f("deep parentheses", "{{ "+strings.Repeat("(", 9999)+"1"+strings.Repeat(")", 9999)+" }}", "nested more than")
	f("deep blocks", strings.Repeat("{% if 1 %}", 3000)+strings.Repeat("{% endif %}", 3000), "nested more than")
	f("deep set blocks", strings.Repeat("{% set x %}", 2000)+strings.Repeat("{% endset %}", 2000), "nested more than")
	f("large", strings.Repeat("-", 1<<20), "larger than")
	f("include", "{% include '/etc/hostname' %}", "unknown statement")
	f("disguised loop", "{% for1 in [1] %}{% endfor %}", "unknown statement")
	f("disguised raw", "{% raw9 %}{{ x }}{% endraw %}", "unknown statement")
	f("import", "{% from '/etc/passwd' import x %}", "unknown statement")
}

func TestStrangeTemplatesEnd(t *testing.T) {
	for _, src := range []string{
		"{{ " + strings.Repeat("-", 60000) + "1 }}",
		"{{ " + strings.Repeat("not ", 15000) + "1 }}",
		"{{ 'a'" + strings.Repeat("|trim", 12000) + " }}",
		"{{ 1" + strings.Repeat("+1", 30000) + " }}",
		"{{ " + strings.Repeat("1 if 0 else ", 5000) + "2 }}",
		strings.Repeat("{#", 30000), strings.Repeat("{% if ", 10000), strings.Repeat("{{ '", 10000),
		"{{ 1 % 0 }}{{ 1 // 0 }}{{ [1, 2, 3][::0] }}", "{% break %}", "{{ caller() }}", "{{ loop.index }}",
		"{% set l = [1] %}{% set _ = l.append(l) %}{{ l }}{{ l | tojson }}",
		"{{ ''.__class__.__mro__ }}{{ raise_exception.__globals__ }}", "{{ range() }}", "{{ range('a') }}", "{{ range(1, 2, 0) }}",
		"{{ strftime_now() }}", "{{ raise_exception() }}", "{{ 9**9**9**9 }}", "{% endfor %}", "{% endset %}", "{% endmacro %}", "{%", "{{", "{#", "{",
	} {
		// Whether it is an error is the library's to say.
		_, _ = evaluate(src, "")
	}
}

func TestTimeIsBounded(t *testing.T) {
	tm, err := untested("{% for i in range(100) %}{% endfor %}", Options{})
	if err != nil {
		t.Fatal(err)
	}
	tm.limits.time = -time.Second
	if _, err := tm.execute(&conversation{}); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
}

func TestRangeIsPythons(t *testing.T) {
	f := func(src, want string) {
		t.Helper()
		if got, err := evaluate(src, ""); err != nil || got != want {
			t.Errorf("%s: %q, %v", src, got, err)
		}
	}
	f("{{ range(3) | list }}{{ range(1, 3) | list }}{{ range(5, 0, -2) | list }}{{ range(-2) | list }}", "[0, 1, 2][1, 2][5, 3, 1][]")
	f("{{ range(9223372036854775806, 9223372036854775807, 5) | list }}", "[9223372036854775806]")
}

func TestGuardNamesDifferEachTime(t *testing.T) {
	if a, b := newGuards(), newGuards(); a.tick == b.tick || a.tick == a.enter {
		t.Error(a, b)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{
		"", "{{ x }}", "{%- if a -%}\n b {%+ endif +%}\n", "{# c #}\n{#-#}", "{% raw %}{{ x }}{%- endraw -%} y", "{%raw%}{%}",
		"{% for i in [1] recursive %}{{ loop(i) }}{% endfor %}", "{% macro m(a, b=1) %}{% endmacro %}", "{% set a.b = 1 %}",
		"{{ 'a' | trim }}{% if x is not none %}", "\r\n{{\r'}}'\n}}", "{{{}}}", "{% set x %}{% endset %}", "é{{ é|é }}", "{{ \xff|\xff is \xff }}",
	} {
		f.Add(s)
	}
	data, err := os.ReadFile("testdata/whitespace.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		var pair [2]string
		if i%50 == 0 && json.Unmarshal([]byte(line), &pair) == nil {
			f.Add(pair[0])
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		plain, err := normalize(src, nil)
		if err != nil {
			return
		}
		lines := strings.ReplaceAll(strings.ReplaceAll(src, "\r\n", "\n"), "\r", "\n")
		if got, want := strings.Count(plain, "\n"), strings.Count(strings.TrimSuffix(lines, "\n"), "\n"); got != want {
			t.Fatalf("%d newlines became %d: %q", want, got, plain)
		}
		if _, err := normalize(src, newGuards()); err != nil && !strings.Contains(err.Error(), "default") {
			t.Fatalf("with guards: %v", err)
		}
		if _, err := jinja.Compile(plain); err != nil {
			return
		}
		// Nothing is left to normalize but the last newline.
		again, err := normalize(plain+"\n", nil)
		if err != nil {
			t.Fatalf("%v: %q", err, plain)
		}
		first, err1 := evaluate(plain+"\n", "")
		second, err2 := evaluate(again+"\n", "")
		if first != second || (err1 == nil) != (err2 == nil) {
			t.Fatalf("%q, %v became %q, %v", first, err1, second, err2)
		}
	})
}
