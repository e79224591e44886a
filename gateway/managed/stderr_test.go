package managed

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	long := strings.Repeat("x", 2*maxLine)
	f := func(name, in string, want ...string) {
		t.Helper()
		cut := func(sizes func() int) string {
			tail := newTail(slog.New(slog.DiscardHandler))
			for rest := in; rest != ""; {
				n := min(sizes(), len(rest))
				if k, err := tail.Write([]byte(rest[:n])); k != n || err != nil {
					t.Fatal(k, err)
				}
				rest = rest[n:]
			}
			return strings.Join(tail.last(), "|")
		}
		r := rand.New(rand.NewPCG(1, 2))
		for how, got := range map[string]string{
			"whole": cut(func() int { return len(in) }), "bytes": cut(func() int { return 1 }), "random": cut(func() int { return 1 + r.IntN(40) }),
		} {
			if w := strings.Join(want, "|"); got != w {
				t.Errorf("%s, %s: got %q, want %q", name, how, got, w)
			}
		}
	}
	f("nothing", "")
	f("lines", "a\r\n\n b \nc\n", "a", "b", "c")
	f("an unfinished line", "a\nb", "a", "b")
	f("not UTF-8", "\xff\xfea\n", "?a")
	f("a long line", long+"\nb\n", long[:maxLine], "b")
	f("stacks", "panic: oh\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1\nexit status 2", "panic: oh")
	var many, last []string
	for i := range 100 {
		many = append(many, fmt.Sprint("line ", i))
	}
	last = many[100-maxLines:]
	f("many lines", strings.Join(many, "\n")+"\n", last...)
}
