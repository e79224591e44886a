//go:build clients

package clients

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"dragoman/test/harness"
)

// start runs bin/dragoman on the addresses that the two threads use.
func start(t *testing.T, config string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("../../bin/dragoman", "-config", path)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v (make build first)", err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for in := bufio.NewScanner(log); in.Scan(); {
			select {
			case lines <- in.Text():
			default:
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		for line := range lines {
			if t.Failed() {
				t.Log(line)
			}
		}
	})
	deadline := time.Now().Add(20 * time.Second)
	for {
		if err := exec.Command("curl", "-sf", "http://127.0.0.1:8000/health").Run(); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the gateway does not answer on port 8000")
		}
		runtime.Gosched()
	}
}

// program runs a client program and makes a subtest of each line "ok NAME".
func program(t *testing.T, backend *harness.Backend, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "OPENAI_API_BASE=http://localhost:8000/v1", "OPENAI_API_KEY=none", "PYTHONWARNINGS=ignore")
	out, err := cmd.CombinedOutput()
	passed := 0
	for line := range strings.Lines(string(out)) {
		if test, ok := strings.CutPrefix(strings.TrimSpace(line), "ok "); ok {
			passed++
			t.Run(strings.TrimSpace(test), func(*testing.T) {})
		}
	}
	if err != nil || passed == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	slow := 0
	for backend.Requests() > 0 {
		r := backend.Request()
		if !strings.Contains(r.Body, "slow") {
			continue
		}
		slow++
		select {
		case <-r.Gone:
		case <-time.After(5 * time.Second):
			t.Error("the client went away and its request at the worker lives on")
		}
	}
	if slow == 0 {
		t.Error("the program did not try to cancel")
	}
}

func TestClients(t *testing.T) {
	backend := harness.NewBackend(t, harness.PirateWorker)
	start(t, fmt.Sprintf(`
listen: ["127.0.0.1:8000"]
models:
  vicuna-13b:
    aliases: [vicuna-13B]
    adapter: fastchat
    url: %q
`, backend.URL))
	out := "../../bin/clients/"
	t.Run("python 2023", func(t *testing.T) {
		program(t, backend, out+"y2023/bin/python", "python/thread_2023.py")
	})
	t.Run("python", func(t *testing.T) {
		program(t, backend, out+"current/bin/python", "python/current.py")
	})
	t.Run("python others", func(t *testing.T) {
		program(t, backend, out+"others/bin/python", "python/others.py")
	})
	for _, client := range []string{"openai", "langchain", "ai"} {
		t.Run("node "+client, func(t *testing.T) {
			program(t, backend, node(t), out+"node/"+client+".mjs")
		})
	}
}

// node returns a Node.js of version 22 or newer: the machine's own, or the one
// that the npm package brings.
func node(t *testing.T) string {
	t.Helper()
	if out, err := exec.Command("node", "--version").Output(); err == nil {
		major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
		if n, _ := strconv.Atoi(major); n >= 22 {
			return "node"
		}
	}
	path, err := filepath.Abs("../../bin/clients/node/node_modules/.bin/node")
	if err != nil {
		t.Fatal(err)
	}
	return path
}
