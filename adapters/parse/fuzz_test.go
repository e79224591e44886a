package parse

import (
	"slices"
	"strings"
	"testing"
)

// FuzzChunking: how a text is cut makes no difference, and without anything to
// recognise it comes out as it went in.
func FuzzChunking(f *testing.F) {
	for i := range families {
		for _, form := range families[i].forms {
			call := `{"name":"f","arguments":{"s":"}"}}`
			switch form.body {
			case named:
				call = `f` + form.until + `{"n":1}`
			case tagged:
				m := form.tags
				call = "f" + m.afterName + m.key + "n" + m.keyEnd + m.value + "1" + m.end + m.callEnd
			}
			f.Add(uint8(i), false, "a "+form.section+form.open+call+strings.Join(form.ends, "")+"\n b")
		}
		for _, t := range families[i].tags {
			f.Add(uint8(i), false, t.open+"x"+t.end+families[i].headers[1]+"y"+families[i].ends[0])
		}
	}
	f.Add(uint8(11), false, "<think>\n\na\n</think>\n<tool_call>[{\"name\":\"f\",\"parameters\":\"{}\"},")
	f.Add(uint8(11), true, "a</think> </thought>")
	f.Fuzz(func(t *testing.T, which uint8, opened bool, text string) {
		text = strings.ToValidUTF8(text, "?")
		req := offering(t)
		plan := New("", families[int(which)%len(families)].name, Tags).Plan(req, opened)
		ways := chunkings(text)
		want := read(t, plan, ways["whole"])
		for name, pieces := range ways {
			if got := read(t, plan, pieces); got != want {
				t.Fatalf("%s: %q\n got %q\nwant %q", name, text, got, want)
			}
		}
		p := plan.NewParser()
		var arena []byte
		p.Flush(p.Push(nil, &arena, []byte(text)), &arena)
		tagged := opened || slices.ContainsFunc(tags, func(tag tag) bool { return strings.Contains(text, tag.open) })
		if p.calls == 0 && !tagged && len(plan.headers) == 0 && want != text {
			t.Fatalf("%q came out as %q", text, want)
		}
	})
}
