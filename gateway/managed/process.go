package managed

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// process is one run of the engine program.
type process struct {
	opt    Options
	stderr *tail

	started chan struct{} // closed when address or err is set
	address string
	gpu     string // what it computes on beside the processor, in its words
	err     error  // why it did not start

	ended chan struct{} // closed when nothing of it is left

	cmd    *exec.Cmd
	dir    string // of the socket; "" without one
	stdout *bufio.Reader

	holder *holder // of its memory

	// Under the Engine's lock.
	users   int
	waiting bool // for memory
	retired bool // it stops after its last user

	once     sync.Once
	stopping chan struct{} // closed by stop

	mu     sync.Mutex
	stdin  io.Closer // nil before the process runs
	killer *time.Timer
	killed bool
}

func newProcess(opt Options) *process {
	return &process{
		opt: opt, stderr: newTail(opt.Log),
		started: make(chan struct{}), ended: make(chan struct{}), stopping: make(chan struct{}),
	}
}

func (p *process) isReady() bool {
	select {
	case <-p.started:
		return p.err == nil
	default:
		return false
	}
}

func (p *process) isStopping() bool {
	select {
	case <-p.stopping:
		return true
	default:
		return false
	}
}

// start runs the program and waits until it says where it listens. Whoever
// waits for started learns the outcome.
func (p *process) start() error {
	defer close(p.started)
	err := p.launch()
	if err == nil {
		p.address, err = p.readAddress()
	}
	if err == nil {
		return nil
	}
	if p.cmd != nil {
		err = p.abandon(err)
	}
	p.err = &StartError{Model: p.opt.Model, Lines: p.stderr.last(), Err: err}
	return p.err
}

// refuse says why the program was not run at all.
func (p *process) refuse(err error) {
	if failed := (*StartError)(nil); errors.As(err, &failed) {
		p.err = failed
	} else {
		p.err = &StartError{Model: p.opt.Model, Err: err}
	}
	close(p.started)
}

// abandon waits for the end of a program that is not ready because of err, and
// returns the better of the two reasons.
func (p *process) abandon(err error) error {
	if !errors.Is(err, io.EOF) {
		p.kill()
		_ = p.wait() // that it was killed is no news
		return err
	}
	p.mu.Lock()
	p.killer = time.AfterFunc(p.opt.Grace, p.kill) // let it say why
	p.mu.Unlock()
	return p.wait()
}

// launch starts the program.
func (p *process) launch() error {
	listen, err := p.socket()
	if err != nil {
		return err
	}
	args := append([]string{"-model", p.opt.Model, "-listen", listen, "-supervised"}, p.opt.flags()...)
	cmd := exec.Command(p.opt.Binary, args...)
	cmd.SysProcAttr = ownGroup()
	cmd.Stderr = p.stderr
	cmd.WaitDelay = 2 * time.Second // for a child of the engine that holds standard error open
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isStopping() {
		return ErrClosed
	}
	if err := cmd.Start(); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return noProgram(p.opt.Binary)
		}
		return fmt.Errorf("running %s: %w", p.opt.Binary, err)
	}
	p.cmd, p.stdout, p.stdin = cmd, bufio.NewReader(stdout), stdin
	p.killer = time.AfterFunc(p.opt.Start, p.kill)
	return nil
}

// socket returns where the engine shall listen: a socket in a folder that is
// closed to others, or a free port where there are no such sockets.
func (p *process) socket() (string, error) {
	if runtime.GOOS == "windows" {
		return "127.0.0.1:0", nil
	}
	base := os.TempDir()
	if len(base) > 60 { // a socket's path has 103 bytes at most
		base = "/tmp"
	}
	dir, err := os.MkdirTemp(base, "dragoman-")
	if err != nil {
		return "", fmt.Errorf("making a folder for the engine's socket: %w", err)
	}
	p.dir = dir
	return "unix:" + filepath.Join(dir, "engine.sock"), nil
}

// readAddress waits for the engine's ready line.
func (p *process) readAddress() (string, error) {
	line, err := p.stdout.ReadBytes('\n')
	p.mu.Lock()
	p.killer.Stop()
	late := p.killed
	p.mu.Unlock()
	switch {
	case err == nil:
	case p.isStopping():
		return "", ErrClosed
	case late:
		return "", fmt.Errorf("it was not ready after %s", p.opt.Start)
	default:
		return "", err
	}
	var ready struct{ Address, GPU string }
	if err := json.Unmarshal(line, &ready); err != nil || ready.Address == "" {
		return "", fmt.Errorf("its first line says %.80q, which is not where it listens", line)
	}
	p.gpu = ready.GPU
	return ready.Address, nil
}

// wait returns when the process has ended. Its error says how, with the last
// lines of its standard error.
func (p *process) wait() error {
	_, _ = io.Copy(io.Discard, p.stdout) // Wait must not close the pipe before its end
	err := p.cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killer.Stop()
	p.stdin.Close()
	if err == nil {
		err = errors.New("it ended by itself")
	}
	if lines := p.stderr.last(); len(lines) > 0 && p.err == nil && p.isReady() {
		err = fmt.Errorf("%w: %s", err, strings.Join(lines, "; "))
	}
	if h := hint(err.Error()); h != "" && p.isReady() && !p.killed {
		err = fmt.Errorf("%w%s", err, h)
	}
	return err
}

// finish cleans up after the end.
func (p *process) finish() {
	if p.dir != "" {
		if err := os.RemoveAll(p.dir); err != nil {
			p.opt.Log.Warn("the engine's folder stays behind", "error", err)
		}
	}
	close(p.ended)
}

// stop asks the process to end, and kills it after grace. It does not wait.
func (p *process) stop(grace time.Duration) {
	p.once.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.stopping)
		if p.stdin != nil {
			p.stdin.Close()
			p.killer.Stop()
			p.killer = time.AfterFunc(grace, p.kill)
		}
	})
}

// kill ends the process at once, if it runs.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		p.killed = true
		_ = p.cmd.Process.Kill() // it may have ended just now
	}
}
