package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dragoman/engine/llama"
	"dragoman/engine/machine"
	"dragoman/engine/stories"
)

// estimateOf is what the program prints for a model.
func estimateOf(t *testing.T, model string, args ...string) (e estimated) {
	t.Helper()
	out, err := command(t.Context(), append([]string{"-estimate", "-model", model}, args...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &e); err != nil || bytes.Count(out, []byte("\n")) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return e
}

func TestEstimate(t *testing.T) {
	e := estimateOf(t, builtin)
	m := e.Memory
	if e.Model != "stories" || e.Architecture != "llama" || e.Context != 1024 || e.TrainContext != 1024 || e.Parallel != 8 || e.Quantization != "Q8_0" {
		t.Errorf("got %+v", e)
	}
	if m.Cache != 8*1024*6*640 || m.Total != m.Weights+m.Cache+m.Compute+m.Process+m.Aside || m.Host > m.Total || !e.Fits {
		t.Errorf("got %+v", m)
	}
	half := estimateOf(t, builtin, "-parallel", "4", "-cache-type-k", "q8_0", "-cache-type-v", "q8_0").Memory
	if half.Cache*4 > m.Cache*2 || half.Weights != m.Weights {
		t.Errorf("half of the requests, and shorter types: got %+v", half)
	}
	if got := fails(t, "-estimate", "-model", "main.go"); !strings.Contains(got, "dragoman-engine: main.go: not a GGUF file") {
		t.Errorf("got %q", got)
	}
}

func TestWhatDoesNotFitIsRefusedWithTheFigures(t *testing.T) {
	file, err := stories.Path(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e, err := llama.NewEstimate(llama.Options{File: file, Context: 1 << 20, Parallel: 8, Batch: 512})
	if err != nil {
		t.Fatal(err)
	}
	const gib = 1 << 30
	var aside uint64
	f := func(want string, m machine.Memory, layers int) {
		t.Helper()
		e.Aside = aside
		switch err := e.Fit(m, layers); {
		case err == nil && want != "", err != nil && !strings.Contains(err.Error(), want), err != nil && want == "":
			t.Errorf("%+v, %d layers elsewhere: got %v, want %q", m, layers, err, want)
		}
	}
	f("needs about 42.0 GiB of memory (weights 2 MiB; 8 requests of 1048576 tokens 30.0 GiB; the rest ", machine.Memory{Total: 16 * gib, Free: 8 * gib}, 0)
	f("and 8.0 GiB are free. Lower -ctx", machine.Memory{Total: 16 * gib, Free: 8 * gib}, 0)
	f("and 16.0 GiB are free", machine.Memory{Total: 16 * gib}, 0)
	f("", machine.Memory{Total: 64 * gib, Free: 60 * gib}, 0)
	f("", machine.Memory{}, 0) // unknown
	f("", machine.Memory{Total: 32 * gib, Free: 18 * gib}, 5)
	f("", machine.Memory{Total: 32 * gib, Free: 14 * gib}, 99)

	aside = 10 * gib // is left out where it makes the difference
	f("", machine.Memory{Free: 53 * gib}, 0)
	if e.Aside == 0 {
		t.Error("memory aside is left out, where it fits")
	}
	f("", machine.Memory{Free: 51 * gib}, 0)
	if e.Aside != 0 {
		t.Error("memory aside is not left out, where it does not fit")
	}
	f("needs about 42.0 GiB", machine.Memory{Free: 41 * gib}, 0)
}

// TestDamagedModels looks at files that differ from the built-in one in a few
// bytes of the header, and at some that are cut: the program says what is wrong
// in one line, or takes the file for good, and never dies.
func TestDamagedModels(t *testing.T) {
	file, err := stories.Path(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 7))
	path := filepath.Join(t.TempDir(), "model.gguf")
	refused := 0
	for n := range 200 {
		data := bytes.Clone(good)
		for range 1 + r.IntN(8) {
			data[r.IntN(40000)] = byte(r.Uint32())
		}
		if n%10 == 0 {
			data = data[:r.IntN(len(data))]
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := llama.NewEstimate(llama.Options{File: path, Parallel: 8, Batch: 512})
		if err == nil {
			continue
		}
		refused++
		if !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%d: got %q", n, err)
		}
	}
	if refused < 40 {
		t.Errorf("only %d of 200 were refused", refused)
	}
}
