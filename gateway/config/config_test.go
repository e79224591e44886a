package config

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"dragoman/adapters"
	"dragoman/adapters/llm"
	"dragoman/adapters/yamlstrict"
)

var update = flag.Bool("update", false, "write the golden files")

// dialect is an adapter of which only the facts matter.
type dialect struct{ traits adapters.Traits }

func (d *dialect) Traits() *adapters.Traits                  { return &d.traits }
func (*dialect) Request(*llm.Request) (adapters.Call, error) { return adapters.Call{}, nil }
func (*dialect) Decoder(*llm.Request) adapters.Decoder       { return nil }

// asking is a dialect whose backends can be asked for their template.
type asking struct{ dialect }

func (*asking) Template(context.Context, adapters.Ask, string) (adapters.Template, error) {
	return nil, errors.New("not asked in these tests")
}

// finding is an asking dialect whose servers a controller may know.
type finding struct{ asking }

func (*finding) Find(context.Context, adapters.Ask, string) (string, error) {
	return "", errors.New("not asked in these tests")
}

func (*finding) Models(context.Context, adapters.Ask) ([]string, error) {
	return nil, errors.New("not asked in these tests")
}

var few = shipped{
	adapters: map[string]adapters.Adapter{
		"native": &asking{}, "fastchat": &finding{}, "raw": &dialect{},
		"openai":  &dialect{adapters.Traits{Messages: true}},
		"bedrock": &dialect{adapters.Traits{Messages: true, Signing: "bedrock"}},
	},
	templates: []string{"chatml", "vicuna"},
}

const secret = "sk-0123456789abcdef"

func environ(t *testing.T) {
	t.Setenv("FIRST_KEY", secret)
	t.Setenv("SLOTS", "8")
	t.Setenv("EMPTY", "")
	t.Setenv("SECRET_URL", "http://"+secret)
}

func load(t testing.TB, path string) (*Config, error) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(data, filepath.Base(path), filepath.Dir(path), few)
}

func TestWhole(t *testing.T) {
	environ(t)
	c, err := load(t, "testdata/whole.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %#v, want %#v", what, got, want)
		}
	}
	f("listen", c.Listen, []string{"0.0.0.0:8000", "[::1]:5000", "unix:/run/dragoman.sock"})
	f("keys", []string{c.Keys[0].Reveal(), c.Keys[1].Reveal()}, []string{secret, "plain-key"})
	f("browsers", [][]string{c.Origins, c.Hosts}, [][]string{{"https://chat.example.org", "*"}, {"chat.example.org"}})
	f("limits", []int64{c.BodyLimit, c.FrameLimit, c.EngineMemory}, []int64{64 << 20, 512 << 10, 48 << 30})
	f("times", []time.Duration{c.Drain, c.CommitAfter, c.KeepAlive, c.WriteTimeout},
		[]time.Duration{0, 5 * time.Second, time.Minute, 10 * time.Second})
	f("log", c.Log, Log{Level: slog.LevelDebug, JSON: true})
	var names []string
	for _, m := range c.Models {
		names = append(names, m.Name)
	}
	f("order", names, []string{"zebra", "ant", "ollama/*", "*"})
	no, yes := false, true
	f("zebra", c.Models[0], Model{
		Name: "zebra", Path: "models.zebra", Aliases: []string{"gpt-3.5-turbo", "gpt-4"},
		Backends: []Backend{{
			Adapter: "fastchat", URL: "http://10.0.0.5:21002", Model: "zebra-v1.5", Key: secret,
			Headers:       map[string]Secret{"X-Team": "blue " + secret, "X-Price": "${5}"},
			Timeout:       Timeout{Connect: time.Second, First: 300 * time.Second, Idle: 2 * time.Minute},
			MaxConcurrent: 8, DefaultMaxTokens: 512, Template: "vicuna", Fold: &no, Parse: "hermes", Reasoning: "tags",
			Drop: []string{"logit_bias", "tools"}, EndTexts: []string{"</s>"},
			Cumulative: &no, EchoPrompt: &yes, EOFIsFinish: &yes,
		}},
	})
	f("ant", c.Models[1].Backends, []Backend{{
		Adapter: "native", Model: "ant", Timeout: defaultTimeout, DefaultMaxTokens: 2048,
		Engine: &Engine{
			Model: "builtin:stories", Ctx: 512, Parallel: 4, Threads: 2, TTL: 10 * time.Minute,
			Device: "cpu", GPULayers: "12", CacheTypeK: "q8_0", CacheTypeV: "q8_0", FlashAttention: "on",
			RopeScaling: "linear", RopeFreqBase: 500000, RopeFreqScale: 0.5, CheckMemory: new(false),
		},
	}})
	f("ollama", c.Models[2].Backends, []Backend{{
		Adapter: "openai", URL: "https://gpu1/base/v1?api-version=1", Model: "hf/*", Key: "sk-from-file",
		KeyFile: "testdata/key.txt", ForwardAuth: true, Proxy: "none", Timeout: defaultTimeout, DefaultMaxTokens: 2048,
	}})
	f("star", c.Models[3].Backends, []Backend{{
		Adapter: "raw", URL: "http://[::1]:9", Model: "*", Timeout: defaultTimeout, DefaultMaxTokens: 2048,
		Template: "own.jinja", TemplateFile: "testdata/own.jinja", BOSToken: "<s>", EOSToken: "</s>",
	}})
}

func TestSeveralBackends(t *testing.T) {
	c, err := load(t, "testdata/routing.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	three, none := 3, 0
	server := func(url, model string, weight *int, tokens int64) Backend {
		return Backend{Adapter: "fastchat", URL: url, Model: model, Weight: weight, Timeout: defaultTimeout, DefaultMaxTokens: tokens}
	}
	engine := server("", "vicuna", &none, DefaultMaxTokens)
	engine.Adapter, engine.Engine = "native", &Engine{Model: "builtin:stories"}
	want := Model{
		Name: "vicuna", Path: "models.vicuna", Aliases: []string{"v"}, Fallback: []string{"stories", "ollama/llama3"},
		Backends: []Backend{
			server("http://10.0.0.5:21002", "vicuna", &three, DefaultMaxTokens),
			server("http://10.0.0.6:21002", "vicuna-13b-v1.5", nil, 7),
			engine,
		},
	}
	if !reflect.DeepEqual(c.Models[0], want) {
		t.Errorf("got %+v\nwant %+v", c.Models[0], want)
	}
	if got := c.Models[2].Backends; len(got) != 2 || got[0].Model != "*" || got[1].Model != "ollama/*" {
		t.Errorf("got %+v", got)
	}
}

func TestController(t *testing.T) {
	c, err := parse([]byte(`models: {"v/*": {adapter: fastchat, controller: "http://h:21001/", model: "*"}}`), "", ".", few)
	if err != nil {
		t.Fatal(err)
	}
	want := []Backend{{
		Adapter: "fastchat", Controller: "http://h:21001", Model: "*", Timeout: defaultTimeout, DefaultMaxTokens: DefaultMaxTokens,
	}}
	if got := c.Models[0].Backends; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestWebSocketURL(t *testing.T) {
	f := func(url, want string) {
		t.Helper()
		c, err := parse([]byte(`models: {a: {adapter: own, url: "`+url+`", template: chatml}}
adapters: {own: {framing: ws, end_marker: e, send: {path: /x, map: {prompt: p}}, read: {text: t}}}`), "", ".", few)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Models[0].Backends[0].URL; got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
	f("ws://h:5005/", "http://h:5005")
	f("wss://h/base?a=1", "https://h/base?a=1")
	f("https://h", "https://h")
}

func TestDefaults(t *testing.T) {
	c, err := parse([]byte(`models: {a: {adapter: openai, url: "http://h"}}`), "", ".", few)
	if err != nil {
		t.Fatal(err)
	}
	want := defaults
	want.Adapters = c.Adapters
	want.Models = []Model{{Name: "a", Path: "models.a", Backends: []Backend{{
		Adapter: "openai", URL: "http://h", Model: "a", Timeout: defaultTimeout, DefaultMaxTokens: DefaultMaxTokens,
	}}}}
	if !reflect.DeepEqual(*c, want) {
		t.Errorf("got %+v\nwant %+v", *c, want)
	}
}

func TestGood(t *testing.T) {
	environ(t)
	files, _ := filepath.Glob("testdata/*.good.yaml")
	if len(files) < 2 {
		t.Fatal("no good files")
	}
	for _, path := range files {
		if _, err := load(t, path); err != nil {
			t.Errorf("%s:\n%v", path, err)
		}
	}
}

// TestBad compares all messages of each bad file with the .txt beside it.
func TestBad(t *testing.T) {
	environ(t)
	files, _ := filepath.Glob("testdata/*.bad.yaml")
	if len(files) < 10 {
		t.Fatal("no bad files")
	}
	for _, path := range files {
		_, err := load(t, path)
		all := (*Errors)(nil)
		if !errors.As(err, &all) {
			t.Errorf("%s: got %v, want *Errors", path, err)
			continue
		}
		if one := (*yamlstrict.Error)(nil); !errors.As(err, &one) {
			t.Errorf("%s: no single errors below", path)
		}
		got := err.Error() + "\n"
		if strings.Contains(got, secret[:10]) {
			t.Errorf("%s: a value of the environment is shown:\n%s", path, got)
		}
		golden := strings.TrimSuffix(path, ".yaml") + ".txt"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%swant\n%s", path, got, want)
		}
	}
}

func TestMissingFile(t *testing.T) {
	if _, err := Load("testdata/gone.yaml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestInsecureOrKeysOpenTheListener(t *testing.T) {
	f := func(head string, ok bool) {
		t.Helper()
		_, err := parse([]byte(head+"\nmodels: {a: {adapter: openai, url: \"http://h\"}}"), "", ".", few)
		if (err == nil) != ok {
			t.Errorf("%s: %v", head, err)
		}
	}
	f("listen: 0.0.0.0:80", false)
	f("listen: 0.0.0.0:80\ninsecure: true", true)
	f("listen: 0.0.0.0:80\nkeys: [k]", true)
	f("listen: localhost:80", true)
	f("listen: 127.0.0.1:0", true)
	f("listen: [\"[::1]:80\"]", true)
	f("listen: \"[::ffff:127.0.0.1]:80\"", true)
}

// TestBC084SecretsAreNotPrinted: no verb and no encoder shows a key.
func TestBC084SecretsAreNotPrinted(t *testing.T) {
	environ(t)
	c, err := load(t, "testdata/whole.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("loaded", "key", c.Keys[0], "all", c.Models, "config", c.Keys)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&log, verb, c.Keys[0])
		fmt.Fprintf(&log, verb, c.Models[0].Backends[0])
	}
	for _, s := range []string{secret, "sk-from-file", fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret)} {
		if strings.Contains(log.String(), s) {
			t.Errorf("%q is in %s", s, log.String())
		}
	}
	if !strings.Contains(log.String(), "***") || Secret("").String() != "" {
		t.Error("a secret is to show as ***, an empty one as nothing")
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.yaml")
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("a: &a {b: *a}\nmodels: {x: *a}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data, "", "testdata", few)
		if (c == nil) == (err == nil) {
			t.Fatal("neither a Config nor an error, or both")
		}
		for i := 0; c != nil && i < len(c.Models); i++ {
			if len(c.Models[i].Backends) == 0 {
				t.Fatal("a model without a backend")
			}
		}
	})
}

// Engines name models as dragoman pull does.
func TestDownloadedModels(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DRAGOMAN_MODELS", dir)
	file := filepath.Join(dir, "a", "b", "m-Q4_K_M.gguf")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(model, want string) {
		t.Helper()
		c, err := parse([]byte("models: {m: {engine: {model: \""+model+"\"}}}"), "", ".", few)
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q", model, err, want)
			}
			return
		}
		if got := c.Models[0].Backends[0].Engine.Model; got != want {
			t.Errorf("%s: got %s", model, got)
		}
	}
	f("hf:a/b", file)
	f("hf:a/b:q4_k_m", file)
	f("hf:a/b:Q8_0", "models.m.engine.model: a/b has no Q8_0; there are Q4_K_M m-Q4_K_M.gguf; dragoman pull hf:a/b:Q8_0 downloads it")
	f("hf:a/c", "models.m.engine.model: hf:a/c is not downloaded: dragoman pull hf:a/c")
	f("smollm2", "models.m.engine.model: smollm2 is not downloaded: dragoman pull smollm2")
	f("hf:a", "names no repository")
}
