package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The test binary is the engine too: with this variable it runs main.
const asEngine = "DRAGOMAN_TEST_AS_ENGINE"

func TestMain(m *testing.M) {
	if os.Getenv(asEngine) != "" {
		main()
	}
	os.Exit(m.Run())
}

// command is the engine with these arguments.
func command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asEngine+"=1")
	return cmd
}

// fails runs an engine that must not start, and returns its standard error.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	var out, stderr bytes.Buffer
	cmd := command(t.Context(), args...)
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err == nil {
		t.Errorf("%v: it ran", args)
	}
	if out.Len() > 0 {
		t.Errorf("%v: standard output says %q", args, out.String())
	}
	return stderr.String()
}

func TestCommandLine(t *testing.T) {
	f := func(want string, args ...string) {
		t.Helper()
		if got := fails(t, args...); !strings.Contains(got, want) {
			t.Errorf("%v: got %q, want %q", args, got, want)
		}
	}
	f("-model is missing")
	f(`unknown argument "x"`, "-model", "m", "x")
	f("-parallel 1 to 256", "-model", "m", "-parallel", "0")
	f("-parallel 1 to 256", "-model", "m", "-parallel", "257")
	f("-threads 0 to 512", "-model", "m", "-threads", "9999")
	f(`-device takes auto, cpu, vulkan, cuda, metal, not "gpu"`, "-model", "m", "-device", "gpu")
	f(`-gpu-layers: it is auto, or a number`, "-model", "m", "-gpu-layers", "-1")
	f(`-cache-type-k takes f16, bf16, f32`, "-model", "m", "-cache-type-k", "q4_K")
	f(`-cache-type-v q8_0 needs flash attention`, "-model", "m", "-cache-type-v", "q8_0", "-flash-attention", "off")
	f(`-rope-scaling takes model, none, linear, yarn, not "ntk"`, "-model", "m", "-rope-scaling", "ntk")
	f(`-rope-freq-base and -rope-freq-scale take 0 or more`, "-model", "m", "-rope-freq-scale", "-1")
	f("dragoman-engine: flag provided but not defined: -nonsense; see dragoman-engine -help\n", "-nonsense")
	f("listening on 127.0.0.1:x", "-model", "m", "-listen", "127.0.0.1:x")
	f("llama.cpp libraries not found in", "-model", "m", "-lib", t.TempDir())
	f("run make build-engine", "-model", "m", "-lib", t.TempDir())
}

func TestVersion(t *testing.T) {
	out, err := command(t.Context(), "-version").Output()
	if err != nil || string(out) != "dragoman-engine dev\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestDefaultLib(t *testing.T) {
	t.Setenv(libVariable, "")
	if got, err := os.Executable(); err != nil || filepath.Dir(defaultLib()) != filepath.Dir(got) {
		t.Errorf("got %s beside %s", defaultLib(), got)
	}
	t.Setenv(libVariable, "/opt/llama")
	if got := defaultLib(); got != "/opt/llama" {
		t.Errorf("got %s", got)
	}
}

func TestListen(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // modes and abandoned sockets are Unix matters
	}
	path := filepath.Join(t.TempDir(), "e.sock")
	// A process that is gone leaves its socket behind.
	old, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	old.SetUnlinkOnClose(false)
	old.Close()
	ln, err := listen(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatalf("an abandoned socket is in the way: %v", err)
	}
	if got := address(ln); got != "unix:"+path {
		t.Errorf("address: got %s", got)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("others may use the socket: %v, %v", st.Mode(), err)
	}
	if _, err := listen(t.Context(), "unix:"+path); err == nil {
		t.Error("two engines got the same socket")
	}
	ln.Close()
	if err := os.WriteFile(path, []byte("dear"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := listen(t.Context(), "unix:"+path); err == nil {
		t.Error("a file was replaced by a socket")
	}
	tcp, err := listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	if got := address(tcp); !strings.HasPrefix(got, "127.0.0.1:") || strings.HasSuffix(got, ":0") {
		t.Errorf("address: got %s", got)
	}
}

func TestUntilEOF(t *testing.T) {
	r, w := io.Pipe()
	ctx := untilEOF(t.Context(), r)
	if ctx.Err() != nil {
		t.Error("over before the end of input")
	}
	w.Close()
	<-ctx.Done()
}

func TestModelFile(t *testing.T) {
	f := func(model, file, name string) {
		t.Helper()
		if gotFile, gotName, err := modelFile(model); err != nil || gotFile != file || gotName != name {
			t.Errorf("%s: got %s, %s, %v", model, gotFile, gotName, err)
		}
	}
	f("/m/Qwen3-0.6B-Q8_0.gguf", "/m/Qwen3-0.6B-Q8_0.gguf", "Qwen3-0.6B-Q8_0")
	f("x", "x", "x")
	if _, _, err := modelFile("builtin:poems"); err == nil {
		t.Error("builtin:poems exists")
	}
}

func TestReason(t *testing.T) {
	f := func(out, want string) {
		t.Helper()
		if got := reason([]byte(out)); got != want {
			t.Errorf("%q: got %q, want %q", out, got, want)
		}
	}
	f("", "")
	f("a warning\ndragoman-engine: wrote \"x\"\n", `wrote "x"`)
	f("SIGSEGV: segmentation violation\n\ngoroutine 1 [running]:\n", "SIGSEGV: segmentation violation")
}
