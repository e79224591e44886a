package managed

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test binary is the engine too: with this variable it plays one. What
// kind is in the model's name.
const asEngine = "DRAGOMAN_TEST_AS_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(asEngine) != "" {
		play(os.Args[1:])
	}
	os.Setenv(asEngine, "1")
	os.Exit(m.Run())
}

// play is a fake engine. It answers each connection with its process id, and
// dies when it is sent "die".
func play(args []string) {
	flag := func(name string) string {
		for i, a := range args {
			if a == name {
				return args[i+1]
			}
		}
		return ""
	}
	if slices.Contains(args, "-estimate") && flag("-model") == "unreadable" {
		stay()
	}
	if slices.Contains(args, "-estimate") && flag("-model") != "broken" {
		fmt.Printf(`{"memory":{"host":%s},"machine":%s}`+"\n", cmp.Or(flag("-need"), "1"), cmp.Or(flag("-machine"), "0"))
		os.Exit(0)
	}
	switch flag("-model") {
	case "broken":
		fmt.Fprintln(os.Stderr, "some warning\ndragoman-engine: no such model file: broken")
		os.Exit(3)
	case "nolibffi":
		fmt.Fprintln(os.Stderr, "panic: libffi.so.8: cannot open shared object file\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:1 +0x1")
		os.Exit(2)
	case "starved":
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		stay()
	case "garbage":
		fmt.Println("Hello!")
		stay()
	case "silent":
		stay()
	case "args":
		fmt.Fprintln(os.Stderr, strings.Join(args[4:], " "))
		os.Exit(1)
	}
	addr := flag("-listen")
	network := "tcp"
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		network, addr = "unix", path
	}
	ln, err := net.Listen(network, addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go answer(ln)
	gpu := ""
	if flag("-model") == "on a GPU" {
		gpu = "Vulkan0 (Some GPU)"
	}
	if network == "tcp" {
		fmt.Printf(`{"address":%q,"pid":%d,"gpu":%q}`+"\n", ln.Addr(), os.Getpid(), gpu)
	} else {
		fmt.Printf(`{"address":%q,"pid":%d,"gpu":%q}`+"\n", "unix:"+addr, os.Getpid(), gpu)
	}
	if flag("-model") == "deaf" {
		stay()
	}
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// stay waits to be killed. A signal that is waited for is no deadlock, which
// the runtime would end the process for.
func stay() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt)
	<-asked
}

func answer(ln net.Listener) {
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		fmt.Fprintln(conn, os.Getpid())
		if line, _ := bufio.NewReader(conn).ReadString('\n'); line == "die\n" {
			fmt.Fprintln(os.Stderr, "GGML_ASSERT failed")
			os.Exit(134)
		}
		conn.Close()
	}
}

// start returns an engine of that kind, closed at the test's end.
func start(t *testing.T, kind string, change func(*Options)) *Engine {
	t.Helper()
	opt := Options{Binary: os.Args[0], Model: kind}
	if change != nil {
		change(&opt)
	}
	e := New(opt)
	e.delay = func(int) time.Duration { return 0 }
	t.Cleanup(func() { e.Close(context.Background()) })
	return e
}

func acquire(t *testing.T, e *Engine) (string, func()) {
	t.Helper()
	address, release, err := e.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address, release
}

// talk sends a word to the engine and returns its process id.
func talk(t *testing.T, address, word string) string {
	t.Helper()
	network := "tcp"
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
	}
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	pid, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(conn, word)
	io.Copy(io.Discard, conn)
	return pid
}

// now returns the running process.
func (e *Engine) now() *process {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.current
}

func TestManyShareOneStart(t *testing.T) {
	e := start(t, "good", nil)
	var wg sync.WaitGroup
	pids := make([]string, 20)
	for i := range pids {
		wg.Go(func() {
			address, release, err := e.Acquire(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			pids[i] = talk(t, address, "hello")
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == "" {
			t.Errorf("answers from processes %q and %q", pid, pids[0])
		}
	}
}

func TestEarlyExit(t *testing.T) {
	f := func(kind, want string) {
		t.Helper()
		_, _, err := start(t, kind, nil).Acquire(t.Context())
		var failed *StartError
		if !errors.As(err, &failed) || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", kind, err, want)
		}
	}
	f("broken", "the engine for broken did not start: exit status 3: some warning; dragoman-engine: no such model file: broken")
	f("nolibffi", "the engine for nolibffi did not start: exit status 2: panic: libffi.so.8: cannot open shared object file (install libffi: on Debian and Ubuntu the package libffi8)")
	f("starved", "the engine for starved did not start: signal: killed (perhaps by the system, which kills what takes too much memory)")
	f("garbage", `the engine for garbage did not start: its first line says "Hello!\n", which is not where it listens`)
}

// Nobody is told that memory is short when the program was only slow.
func TestEstimateThatTakesTooLong(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Ask(ctx, Options{Binary: os.Args[0], Model: "unreadable"})
	if want := "the engine for unreadable did not start: the engine program did not say in time what the model takes"; err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
}

func TestNoProgram(t *testing.T) {
	e := start(t, "good", func(o *Options) { o.Binary = "/nowhere/dragoman-engine" })
	_, _, err := e.Acquire(t.Context())
	if want := "the engine for good did not start: the engine program is not there: /nowhere/dragoman-engine (make build-engine builds it)"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestFlags(t *testing.T) {
	e := start(t, "args", func(o *Options) { o.Lib, o.Args = "/opt/llama", []string{"-ctx", "8192"} })
	_, _, err := e.Acquire(t.Context())
	if err == nil || !strings.HasSuffix(err.Error(), "exit status 1: -supervised -lib /opt/llama -ctx 8192") {
		t.Errorf("got %v", err)
	}
	e = start(t, "args", func(o *Options) { o.AnySize = true })
	if _, _, err = e.Acquire(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "exit status 1: -supervised -check-memory=false") {
		t.Errorf("got %v", err)
	}
}

func TestTooSlowAStart(t *testing.T) {
	e := start(t, "silent", func(o *Options) { o.Start = time.Millisecond })
	_, _, err := e.Acquire(t.Context())
	if err == nil || !strings.Contains(err.Error(), "it was not ready after 1ms") {
		t.Errorf("got %v", err)
	}
}

func TestCancelEndsTheWaitAlone(t *testing.T) {
	e := start(t, "silent", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := e.Acquire(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if e.now() == nil {
		t.Error("the start was given up")
	}
}

func TestRestartAfterACrash(t *testing.T) {
	e := start(t, "good", nil)
	address, release := acquire(t, e)
	release()
	p := e.now()
	first := talk(t, address, "die")
	<-p.ended
	address, release = acquire(t, e)
	defer release()
	if second := talk(t, address, "hello"); second == first {
		t.Error("the dead answer")
	}
	if e.failures != 1 {
		t.Errorf("counted %d failures", e.failures)
	}
}

func TestCrashesOnAGPUAreBlamedOnIt(t *testing.T) {
	f := func(kind string, blamed bool) {
		t.Helper()
		e := start(t, kind, nil)
		e.delay = func(failures int) time.Duration {
			if failures == suspicious {
				return time.Hour
			}
			return 0
		}
		for range suspicious {
			address, release := acquire(t, e)
			release()
			p := e.now()
			talk(t, address, "die")
			<-p.ended
		}
		ctx, cancel := context.WithCancel(t.Context())
		if !blamed {
			cancel() // it would wait for the next start
		}
		defer cancel()
		_, _, err := e.Acquire(ctx)
		if got := fmt.Sprint(err); strings.Contains(got, "3 times in a row while it computed on Vulkan0 (Some GPU) (device: cpu leaves that alone, ") != blamed {
			t.Errorf("%s: got %q", kind, got)
		}
	}
	f("on a GPU", true)
	f("good", false)
}

func TestAFailedStartIsRememberedForAWhile(t *testing.T) {
	e := start(t, "broken", nil)
	e.delay = func(int) time.Duration { return time.Hour }
	_, _, first := e.Acquire(t.Context())
	for e.now() != nil { // until its end is noted, too
		runtime.Gosched()
	}
	_, _, second := e.Acquire(t.Context())
	if first == nil || first != second {
		t.Errorf("got %v, then %v, want the same error and no new start", first, second)
	}
	e.delay = func(int) time.Duration { return 0 }
	e.mu.Lock()
	e.retry = time.Now()
	e.mu.Unlock()
	if _, _, third := e.Acquire(t.Context()); third == nil || third == first {
		t.Errorf("got %v, want a new failure", third)
	}
}

func TestBackoff(t *testing.T) {
	for failures, want := range map[int]time.Duration{1: 500 * time.Millisecond, 2: time.Second, 4: 4 * time.Second, 7: 30 * time.Second, 1000: 30 * time.Second} {
		if got := backoff(failures); got != want {
			t.Errorf("%d failures: got %s, want %s", failures, got, want)
		}
	}
}

func TestIdleEnginesStop(t *testing.T) {
	e := start(t, "good", func(o *Options) { o.TTL = time.Millisecond })
	address, release := acquire(t, e)
	p := e.now()
	first := talk(t, address, "hello")
	e.stopIdle() // the timer's work, had it fired
	if e.now() != p {
		t.Fatal("stopped while in use")
	}
	release()
	release()
	<-p.ended
	if _, err := os.Stat(p.dir); !os.IsNotExist(err) {
		t.Errorf("its folder is still there: %v", err)
	}
	address, release = acquire(t, e)
	if second := talk(t, address, "hello"); second == first {
		t.Error("the stopped engine answers")
	}
	if e.failures != 0 {
		t.Errorf("stopping counted as %d failures", e.failures)
	}
	release()
}

func TestClose(t *testing.T) {
	f := func(kind string, change func(*Options)) {
		t.Helper()
		e := start(t, kind, change)
		_, release := acquire(t, e)
		defer release()
		p := e.now()
		if err := e.Close(t.Context()); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		<-p.ended
		if _, _, err := e.Acquire(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: Acquire afterwards: %v", kind, err)
		}
	}
	f("good", nil)
	f("deaf", func(o *Options) { o.Grace = time.Millisecond })
}

func TestCloseInAHurry(t *testing.T) {
	e := start(t, "deaf", func(o *Options) { o.Grace = time.Hour })
	_, release := acquire(t, e)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCloseWhileStarting(t *testing.T) {
	e := start(t, "silent", func(o *Options) { o.Grace = time.Millisecond })
	ended := make(chan error)
	go func() {
		_, _, err := e.Acquire(context.Background())
		ended <- err
	}()
	for e.now() == nil { // until Acquire is inside
		runtime.Gosched()
	}
	if err := e.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
}

func TestCloseUnused(t *testing.T) {
	if err := start(t, "good", nil).Close(t.Context()); err != nil {
		t.Error(err)
	}
}
