package parse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"dragoman/adapters/jsonscan"
	"dragoman/adapters/llm"
)

// offering returns a request that offers these tools: f takes a string, an
// integer and an object, now takes nothing.
func offering(t testing.TB) *llm.Request {
	t.Helper()
	raw := []byte(`{"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{
		"s":{"type":"string"},"n":{"type":"integer"},"o":{"type":"object"}}}}},{"type":"function","function":{"name":"now"}}]}`)
	members, err := jsonscan.Members(raw, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &llm.Request{Raw: raw, Members: members}
}

// chunkings returns ways of cutting text between runes.
func chunkings(text string) map[string][]string {
	runes := strings.Split(text, "")
	random := rand.New(rand.NewPCG(uint64(len(text)), 5))
	var some []string
	for i := 0; i < len(runes); {
		n := min(1+random.IntN(7), len(runes)-i)
		some = append(some, strings.Join(runes[i:i+n], ""))
		i += n
	}
	return map[string][]string{"whole": {text}, "runes": runes, "random": some}
}

// read returns what the pieces mean: reasoning in ( ), text as it is, calls as
// {name arguments}, with ! if a call is not complete.
func read(t testing.TB, plan *Plan, pieces []string) string {
	t.Helper()
	p := plan.NewParser()
	var arena []byte
	var b strings.Builder
	last := ""
	say := func(kind string, s []byte) {
		if len(s) == 0 {
			return
		}
		if kind != last {
			b.WriteString(map[string]string{"(": ")", "{": "}"}[last])
			b.WriteString(strings.TrimPrefix(kind, "text"))
		}
		last = kind
		b.Write(s)
	}
	ids := map[string]bool{}
	tell := func(events []llm.Event) {
		for _, ev := range events {
			say("(", ev.Reasoning)
			say("text", ev.Text)
			if ev.Tool == nil {
				continue
			}
			if ev.Tool.Name != "" {
				if ev.Tool.Index != len(ids) || ev.Tool.ID == "" || ids[ev.Tool.ID] {
					t.Fatalf("bad call %+v", ev.Tool)
				}
				ids[ev.Tool.ID] = true
				b.WriteString(map[string]string{"(": ")", "{": "}"}[last])
				last = ""
				say("{", []byte(ev.Tool.Name+" "))
			} else if ev.Tool.Index != len(ids)-1 {
				t.Fatalf("a part of call %d after call %d", ev.Tool.Index, len(ids)-1)
			}
			say("{", ev.Tool.Arguments)
		}
	}
	for _, piece := range pieces {
		arena = arena[:0]
		tell(p.Push(nil, &arena, []byte(piece)))
	}
	tell(p.Flush(nil, &arena))
	b.WriteString(map[string]string{"(": ")", "{": "}"}[last])
	if p.Called() != (len(ids) > 0) {
		b.WriteString("!")
	}
	return b.String()
}

// reads checks what text means, however it is cut.
func reads(t *testing.T, plan *Plan, text, want string) {
	t.Helper()
	for name, pieces := range chunkings(text) {
		if got := read(t, plan, pieces); got != want {
			t.Errorf("%s: %q\n got %q\nwant %q", name, text, got, want)
		}
	}
}

func TestReasoning(t *testing.T) {
	f := func(reasoning, text, want string) {
		t.Helper()
		reads(t, New("", Auto, reasoning).Plan(&llm.Request{}, false), text, want)
	}
	f(Tags, "<think>weigh it</think>\n\nBlue", "(weigh it)Blue")
	f(Tags, "\n<think>\nweigh\n\nit\n</think>\n\nBlue\n", "(weigh\n\nit)Blue\n")
	f(Tags, "<think>\n\n</think>\n\nBlue", "Blue")
	f(Tags, "<think>weigh it", "(weigh it)")
	f(Tags, "<think>weigh it\n\n", "(weigh it\n\n)")
	f(Tags, "<think>weigh it</thin", "(weigh it</thin)")
	f(Tags, "<think>a </thinks> b</think>  c", "(a </thinks> b)  c")
	f(Tags, "<thin", "<thin")
	f(Tags, "  \n", "  \n")
	f(Tags, "  plain", "  plain")
	f(Tags, "Write `<think>x</think>` like this", "Write `<think>x</think>` like this")
	f(Tags, "<think>a</think>b<think>c</think>", "(a)b<think>c</think>")
	f(Tags, "◁think▷思考◁/think▷答", "(思考)答")
	f(Tags, "<seed:think>a</seed:think>b", "(a)b")
	f(Tags, "[THINK]a[/THINK]b", "(a)b")
	f(Tags, "<reasoning>a</think></reasoning>b", "(a</think>)b")
	f(Opened, "weigh it</think>\n\nBlue", "(weigh it)Blue")
	f(Opened, "\n<think>\nweigh it</think>\n\nBlue", "(weigh it)Blue")
	f(Opened, "weigh it", "(weigh it)")
	f(Opened, "</think>Blue", "Blue")
	f(Opened, "  a", "(  a)")
	long := strings.Repeat("\n", 50)
	f(Tags, "<think>"+long+"a"+long+"b"+long+"</think>"+long+"c", "("+long[16:]+"a"+long+"b"+long[16:]+")"+long[16:]+"c")
}

// What a template tells decides, unless the configuration does.
func TestReasoningOfTemplates(t *testing.T) {
	f := func(source, tools, reasoning string, opened bool, text, want string) {
		t.Helper()
		plan := New(source, tools, reasoning).Plan(&llm.Request{}, opened)
		if plan == nil {
			if text != want {
				t.Errorf("no plan for %q", text)
			}
			return
		}
		reads(t, plan, text, want)
	}
	const qwen, plain = "{% if '</think>' in content %}", "{{ messages }}"
	f(qwen, Auto, Auto, false, "<think>a</think>b", "(a)b")
	f(qwen, "", "", true, "a</think>b", "(a)b")
	f(qwen, "", "", false, "a</think>b", "a</think>b")
	f(qwen, "", "", false, "<thought>a</thought>b", "<thought>a</thought>b")
	f(plain, "", "", false, "<think>a</think>b", "<think>a</think>b")
	f(plain, "", "", true, "a</think>b", "(a)b")
	f(plain, "", Tags, false, "<think>a</think>b", "(a)b")
	f(qwen, None, "", true, "a</think>b", "a</think>b")
	f(qwen, "", None, true, "a</think>b", "a</think>b")
	f(qwen, None, Tags, false, "<think>a</think>b", "(a)b")
}

// Two of what is offered by chance: without tools in the request, calls are text.
func TestNoToolsOffered(t *testing.T) {
	if New("", "hermes", "").Plan(&llm.Request{}, false) != nil {
		t.Error("tool calls are looked for though no tools are offered")
	}
	if got := fmt.Sprint(Families()); got != "[deepseek deepseek-v3.2 deepseek-v4.1 glm granite harmony hermes kimi kimi-k3 llama3 mistral phi qwen3-coder]" {
		t.Error(got)
	}
}

func TestPlainTextAllocatesNothing(t *testing.T) {
	p := New("<think>", "hermes", Tags).Plan(offering(t), false).NewParser()
	arena := make([]byte, 0, 1024)
	events := p.Push(nil, &arena, []byte("It begins: "))
	text := []byte("if a < b and c[0] > {d} then <b>bold</b>. ")
	if n := testing.AllocsPerRun(100, func() {
		arena = arena[:0]
		events = p.Push(events[:0], &arena, text)
	}); n != 0 || len(events) != 1 || string(events[0].Text) != string(text) {
		t.Errorf("%v allocations, events %v", n, events)
	}
}

// A long text full of what only looks like calls costs no more memory than a few
// copies of it, and its nesting is not followed to the end.
func TestManyFalseMarkers(t *testing.T) {
	for _, marker := range []string{"<tool_call>", `<tool_call>{"a":[`, `<tool_call>{"name":"`} {
		text := strings.Repeat(marker, 1<<17/len(marker))
		p := New("", "hermes", None).Plan(offering(t), false).NewParser()
		var arena []byte
		var got strings.Builder
		for _, ev := range p.Flush(p.Push(nil, &arena, []byte(text)), &arena) {
			got.Write(ev.Text)
		}
		if got.String() != text || len(arena) > 3*len(text) {
			t.Errorf("%s: %d bytes of %d came, %d bytes were copied", marker, got.Len(), len(text), len(arena))
		}
	}
}
