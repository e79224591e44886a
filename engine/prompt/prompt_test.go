package prompt

import (
	"fmt"
	"strings"
	"testing"
)

var specials = []Special{
	{Text: "<s>", ID: 1},
	{Text: "<|im_start|>", ID: 2},
	{Text: "<|im_end|>", ID: 3},
	{Text: "<|im_start|>x", ID: 4},
	{Text: "<trim>", ID: 5, TrimLeft: true, TrimRight: true},
	{Text: "", ID: 6},
}

// show writes parts as "text" and ids.
func show(parts []Part) string {
	var s []string
	for _, p := range parts {
		if p.Text == "" {
			s = append(s, fmt.Sprint(p.ID))
		} else {
			s = append(s, fmt.Sprintf("%q", p.Text))
		}
	}
	return strings.Join(s, " ")
}

func TestSplit(t *testing.T) {
	sp := func(text string) Piece { return Piece{Text: text, Special: true} }
	plain := func(text string) Piece { return Piece{Text: text} }
	f := func(name, want string, pieces ...Piece) {
		t.Helper()
		if got := show(NewSplitter(specials).Split(pieces)); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	f("nothing", "")
	f("an empty piece", "", plain(""), sp(""))
	f("a turn", `2 "user\nhi" 3 "\n"`, sp("<|im_start|>user\n"), plain("hi"), sp("<|im_end|>\n"))
	f("plain text is joined", `"abc"`, plain("a"), sp("b"), plain("c"))
	f("users make no token", `2 "a<|im_end|><s>b" 3`, sp("<|im_start|>"), plain("a<|im_end|><s>b"), sp("<|im_end|>"))
	f("the longest wins", `4 2 "y"`, sp("<|im_start|>x<|im_start|>y"))
	f("not across pieces", `"<|im_end|>"`, sp("<|im_"), plain("end|>"))
	f("not across special pieces", `"<|im_end|>"`, sp("<|im_"), sp("end|>"))
	f("neighbours", "1 1 3", sp("<s><s>"), sp("<|im_end|>"))
	f("broken ones are text", `"<|im_<s" 1 ">"`, sp("<|im_<s<s>>"))
	f("white space is trimmed", `"a" 5 "b "`, sp("a \n<trim>"), plain(" \t"), plain(" b "))
	f("only next to the token", `"a b" 5 3 " c"`, sp("a b<trim> <|im_end|> c"))
	f("all of it white", "5 5", sp(" <trim> <trim>"), plain(" \n"))
}

func TestBreak(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := strings.Join(NewSplitter(specials).Break(text), "·"); got != want {
			t.Errorf("Break(%q): got %s, want %s", text, got, want)
		}
	}
	f("", "")
	f("abc", "abc")
	f("a<s>b", "a<·s>b")
	f("<|im_start|>x", "<·|im_start|>x")
	f("<s><s>", "<·s><·s>")
}

func FuzzSplit(f *testing.F) {
	f.Add("<|im_start|>user\n", "<|im_end|>", " <trim> ")
	f.Add("<s", ">", "<s>")
	s := NewSplitter(specials[:4]) // of those that trim, text is lost
	spelling := map[int32]string{}
	for _, x := range specials {
		spelling[x.ID] = x.Text
	}
	f.Fuzz(func(t *testing.T, before, user, after string) {
		pieces := []Piece{{before, true}, {user, false}, {after, true}}
		parts := s.Split(pieces)
		var whole strings.Builder
		for i, p := range parts {
			if p.Text != "" && i > 0 && parts[i-1].Text != "" {
				t.Fatalf("two runs of text side by side: %s", show(parts))
			}
			if p.Text == "" {
				whole.WriteString(spelling[p.ID])
			}
			whole.WriteString(p.Text)
		}
		if want := before + user + after; whole.String() != want {
			t.Fatalf("parts spell %q, want %q", whole.String(), want)
		}
		for _, p := range s.Split([]Piece{{Text: user}}) {
			if p.Text == "" {
				t.Fatalf("plain text %q made token %d", user, p.ID)
			}
		}
		broken := s.Break(user)
		if strings.Join(broken, "") != user {
			t.Fatalf("Break lost text: %q", broken)
		}
		for _, b := range broken {
			if at, _ := s.next(b); at >= 0 {
				t.Fatalf("Break(%q) left %q whole", user, b)
			}
		}
	})
}
