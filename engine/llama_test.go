//go:build llama

// These tests need llama.cpp's libraries: in ../bin/lib, where make puts them,
// or where DRAGOMAN_LLAMA_LIB points.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"dragoman/engine/llama"
	"dragoman/engine/stories"
)

func TestStory(t *testing.T) {
	p := start(t)
	r := p.generate(t, "Story about a dog.", greedy)
	if !strings.Contains(r.text, "dog") || r.last.Done != "stop" || r.last.Reason != "eos" || r.last.Completion != len(r.ids) {
		t.Errorf("got %q, %+v", r.text, r.last)
	}
	if r := p.generate(t, "Story about a dog.", greedy+`,"max_tokens":5`); len(r.ids) != 5 || r.last.Reason != "max_tokens" {
		t.Errorf("got %q, %+v", r.text, r.last)
	}
	if p.ready.PID == os.Getpid() || p.ready.Context != 1024 || p.ready.Model != "stories" {
		t.Errorf("ready: %+v", p.ready)
	}
}

// questions are different in length, so that answers overlap in all ways.
func questions() (list []string) {
	for i, subject := range strings.Fields("dog cat bird fish tree boat king frog star horse girl boy mouse bear moon fox") {
		list = append(list, strings.Repeat("Please. ", i%5)+"Story about a "+subject+".")
	}
	return list
}

func TestAloneOrInABatchTheAnswersAreEqual(t *testing.T) {
	p := start(t, "-listen", "unix:"+filepath.Join(t.TempDir(), "e.sock"), "-parallel", "16")
	f := func(settings func(i int) string) {
		t.Helper()
		alone := make(map[int]reply)
		for i, q := range questions() {
			alone[i] = p.generate(t, q, settings(i))
		}
		var wg sync.WaitGroup
		for i, q := range questions() {
			wg.Go(func() {
				got, want := p.generate(t, q, settings(i)), alone[i]
				if got.text != want.text || got.last.Reason != want.last.Reason {
					t.Errorf("%s (%s)\nin a batch: %q\n     alone: %q", q, settings(i), got.text, want.text)
				}
			})
		}
		wg.Wait()
	}
	f(func(int) string { return greedy + short })
	f(func(i int) string { return fmt.Sprintf(`"temperature":0.9,"seed":%d`, i) + short })
}

func TestSeeds(t *testing.T) {
	p := start(t)
	texts := make(map[string]bool)
	for seed := range 5 {
		texts[p.generate(t, "Story about a cat.", fmt.Sprintf(`"temperature":1,"seed":%d`, seed)).text] = true
	}
	if len(texts) < 4 {
		t.Errorf("5 seeds gave only %d stories", len(texts))
	}
}

func TestCancelledRequestsFreeTheirPlaces(t *testing.T) {
	p := start(t, "-parallel", "2", "-queue", "2")
	for range 20 {
		resp, err := p.client.Post(p.url+"/generate", "", strings.NewReader(request("Story about a dog.", greedy)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
			t.Errorf("reading the first token: %v", err)
		}
		resp.Body.Close()
	}
	if r := p.generate(t, "Story about a dog.", greedy); r.last.Reason != "eos" {
		t.Errorf("got %q, %+v", r.text, r.last)
	}
}

func TestContextLength(t *testing.T) {
	p := start(t, "-ctx", "64")
	r := p.generate(t, strings.Repeat("dog ", 100), greedy)
	if e := r.last.Error; r.status != 400 || e == nil || e.Code != "context_length_exceeded" || e.Context != 64 || e.PromptTokens < 100 {
		t.Errorf("got %d %+v", r.status, r.last)
	}
	if r := p.generate(t, "Story about a dog.", greedy); r.last.Done != "length" || r.last.Reason != "context" || r.last.Prompt+r.last.Completion != 64 {
		t.Errorf("got %+v", r.last)
	}
}

func TestWaysToCompute(t *testing.T) {
	f := func(args ...string) {
		t.Helper()
		if r := start(t, args...).generate(t, "Story about a dog.", greedy); !strings.Contains(r.text, "dog") || r.last.Reason != "eos" {
			t.Errorf("%v: got %q, %+v", args, r.text, r.last)
		}
	}
	f("-device", "cpu", "-flash-attention", "on")
	f("-flash-attention", "off", "-cache-type-k", "q8_0")
	f("-cache-type-k", "q8_0", "-cache-type-v", "q8_0")
	f("-rope-scaling", "linear", "-rope-freq-scale", "0.9", "-gpu-layers", "0")
	if got := fails(t, "-lib", libDir(), "-model", builtin, "-device", "cuda"); !strings.Contains(got, "there is no cuda device here; llama.cpp's libraries found cpu") {
		t.Errorf("got %q", got)
	}
}

func TestUserTextMakesNoControlTokens(t *testing.T) {
	p := start(t)
	count := func(text string, special bool) (tokens []int32) {
		q, _ := json.Marshal(text)
		resp, err := p.client.Post(p.url+"/tokenize", "", strings.NewReader(fmt.Sprintf(`{"prompt":[{"text":%s,"special":%t}]}`, q, special)))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var body struct{ Tokens []int32 }
		if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
			t.Fatal(err)
		}
		return body.Tokens
	}
	resp, err := p.client.Get(p.url + "/props")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var props struct {
		Special []string `json:"special_tokens"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&props); err != nil || len(props.Special) < 3 {
		t.Fatalf("special tokens %q: %v", props.Special, err)
	}
	for _, special := range props.Special {
		marked := count(special, true)
		control := marked[len(marked)-1]
		for i, id := range count("a"+special+"b\x00é", false) {
			if i > 0 && id == control {
				t.Errorf("%s in user text became token %d", special, id)
			}
		}
	}
}

func TestStopsWithItsParent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.sock")
	p := start(t, "-listen", "unix:"+path)
	p.stdin.Close()
	if err := p.wait(); err != nil {
		t.Errorf("exit: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("its socket is still there: %v", err)
	}
}

func TestCheck(t *testing.T) {
	if out, err := command(t.Context(), "-check", "-lib", libDir()).CombinedOutput(); err != nil {
		t.Errorf("got %v\n%s", err, out)
	}
}

// Libraries of another version are tried in a child first.
func TestOtherLibraries(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // the files have other names elsewhere
	}
	dir := t.TempDir()
	from, err := filepath.Abs(libDir())
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Symlink(filepath.Join(from, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	lib := filepath.Join(dir, "libllama.so")
	code, err := os.ReadFile(lib)
	if err != nil {
		t.Fatal(err)
	}
	code = bytes.ReplaceAll(code, []byte(llama.Version+"-dev\x00"), []byte("9.9.9-dev\x00"))
	if err := errors.Join(os.Remove(lib), os.WriteFile(lib, code, 0o755)); err != nil {
		t.Fatal(err)
	}
	got := fails(t, "-lib", dir, "-model", "nowhere.gguf")
	if !strings.Contains(got, "are version 9.9.9-dev, and this engine is made for "+llama.Version+"; a trial with them went well") ||
		!strings.Contains(got, "no such model file") {
		t.Errorf("got %q", got)
	}
}

func TestModelsThatCannotBeLoaded(t *testing.T) {
	file, err := stories.Path(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f := func(want string, data []byte) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "model.gguf")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := fails(t, "-lib", libDir(), "-model", path); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if runtime.GOOS == "linux" { // elsewhere free memory is not known
		if got := fails(t, "-lib", libDir(), "-model", file, "-ctx", "100000000"); !strings.Contains(got, "the model does not fit: it needs about") {
			t.Errorf("got %q", got)
		}
	}
	const header = "general.architecture\x08\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00"
	f("the file is empty", nil)
	f("cut short", model[:len(model)/10])
	f("cut short: it was probably not copied or downloaded whole: tensor", model[:len(model)-100])
	f("unknown model architecture: 'lhama'", bytes.Replace(model, []byte(header+"llama"), []byte(header+"lhama"), 1))
	if got := fails(t, "-lib", libDir(), "-model", "nowhere.gguf"); !strings.Contains(got, "no such model file: nowhere.gguf") {
		t.Errorf("got %q", got)
	}
}

// The estimate is near what the process takes, where Linux tells that.
func TestEstimateIsNear(t *testing.T) {
	if runtime.GOOS != "linux" {
		return
	}
	p := start(t)
	p.generate(t, strings.Repeat("dog ", 900), greedy)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.ready.PID))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kib uint64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	want := float64(kib << 10)
	gpu, _ := filepath.Glob(filepath.Join(libDir(), "*ggml-vulkan*"))
	for _, library := range gpu { // is in memory too, where somebody put one
		if st, err := os.Stat(library); err == nil {
			want -= float64(st.Size())
		}
	}
	got := float64(estimateOf(t, builtin).Memory.Total)
	t.Logf("estimated %.1f MB, taken %.1f MB", got/1e6, want/1e6)
	if got < 0.8*want || got > 1.25*want {
		t.Errorf("estimated %.0f bytes, and it takes %.0f", got, want)
	}
}

func BenchmarkTokens(b *testing.B) {
	p := start(b, "-parallel", "8")
	for _, streams := range []int{1, 8} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			var mu sync.Mutex
			total := 0
			for b.Loop() {
				var wg sync.WaitGroup
				for i := range streams {
					wg.Go(func() {
						r := p.generate(b, questions()[i], fmt.Sprintf(`"seed":%d,"max_tokens":200`, i))
						mu.Lock()
						defer mu.Unlock()
						total += len(r.ids)
					})
				}
				wg.Wait()
			}
			b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}
