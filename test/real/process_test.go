//go:build real

package real

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// bin is where setup.sh puts what it installs.
const bin = "../../bin/real"

// inBin returns an absolute path below bin; the test fails without it.
func inBin(t *testing.T, elements ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{bin}, elements...)...))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v: test/real/setup.sh makes it", err)
	}
	return path
}

// freePort returns a port of the loopback interface that nobody uses now.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// process is a running server. Its output is shown if the test fails.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// run starts a program; it is ended with the test.
func run(t *testing.T, program string, args ...string) *process {
	t.Helper()
	dir := t.TempDir()
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(os.Environ(), "PYTHONWARNINGS=ignore", "HF_HUB_OFFLINE=1", "no_proxy=127.0.0.1,localhost")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd, make(chan struct{})}
	go func() { cmd.Wait(); close(p.done) }()
	t.Cleanup(func() {
		p.kill()
		log.Close()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s:\n%s", filepath.Base(program), text[max(0, len(text)-8000):])
		}
	})
	return p
}

// kill ends the process and its children at once.
func (p *process) kill() {
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// ready waits until the server answers a request with 200.
func (p *process) ready(t *testing.T, method, url string) {
	t.Helper()
	p.until(t, fmt.Sprintf("%s %s is answered", method, url), func() bool {
		req, _ := http.NewRequest(method, url, http.NoBody)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}

// until waits for what a server comes to by itself.
func (p *process) until(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.After(3 * time.Minute)
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-p.done:
			t.Fatalf("%s ended before %s", p.cmd.Path, what)
		case <-deadline:
			t.Fatalf("not within 3 minutes: %s", what)
		}
	}
}

// gateway runs bin/dragoman with these models, and returns its URL.
func gateway(t *testing.T, models string) string {
	t.Helper()
	port := freePort(t)
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("listen: [127.0.0.1:"+port+"]\nmodels:\n"+models), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := filepath.Abs("../../bin/dragoman")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://127.0.0.1:" + port
	run(t, program, "-config", path).ready(t, http.MethodGet, base+"/health")
	return base
}
