// Command dragoman-engine serves one GGUF model over HTTP as a stream of
// tokens, in the protocol of PROTOCOL.md. It runs llama.cpp in this process,
// so that a crash in it takes nothing else along; the gateway starts, watches
// and restarts it, and it can also stand alone.
//
// When it is ready it prints one line of JSON to standard output. Everything
// else goes to standard error.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"dragoman/engine/llama"
)

var version = "dev" // set by the linker

// options are the command line.
type options struct {
	model      string
	listen     string
	lib        string
	queue      int
	llama      llama.Options // but for its File and Batch
	supervised bool
	verbose    bool
	check      bool
	estimate   bool
	version    bool
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("dragoman-engine", flag.ContinueOnError)
	f.StringVar(&o.model, "model", "", "a GGUF `file`, or "+builtin)
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to serve: unix:/path, or host:port (port 0: any free one)")
	f.StringVar(&o.lib, "lib", "", "`folder` with llama.cpp's libraries (default $"+libVariable+", else lib beside this program)")
	f.IntVar(&o.llama.Context, "ctx", 0, "`tokens` that one request may have (default: the model's own context, at most 4096)")
	f.IntVar(&o.llama.Parallel, "parallel", 8, "`requests` to run at once")
	f.IntVar(&o.llama.Threads, "threads", 0, "`threads` that compute (default: as many as turn out quickest, tried again and again)")
	f.IntVar(&o.queue, "queue", 256, "`requests` that may wait; further ones are refused")
	f.BoolVar(&o.supervised, "supervised", false, "exit when standard input ends, so as never to outlive the parent")
	f.BoolVar(&o.verbose, "verbose", false, "print llama.cpp's whole log")
	f.BoolVar(&o.check, "check", false, "generate a known story with the libraries, say whether it came out right, and exit")
	f.BoolVar(&o.estimate, "estimate", false, "print what the model is and about how much memory it would take, as JSON, and exit")
	f.BoolVar(&o.version, "version", false, "print the version and exit")
	computing(f, &o.llama)
	// main prints the error, so that it is the last line; help is for those who ask.
	f.SetOutput(io.Discard)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(os.Stderr)
			f.Usage()
			return o, err
		}
		return o, fmt.Errorf("%w; see dragoman-engine -help", err)
	}
	switch {
	case o.version:
		return o, nil
	case f.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	case o.model == "" && !o.check:
		return o, errors.New("-model is missing")
	case o.llama.Context < 0 || o.llama.Parallel < 1 || o.llama.Parallel > maxParallel || o.queue < 1 || o.llama.Threads < 0 || o.llama.Threads > maxThreads:
		return o, fmt.Errorf("-ctx takes 0 or more, -threads 0 to %d, -queue 1 or more, -parallel 1 to %d", maxThreads, maxParallel)
	}
	if o.lib == "" {
		o.lib = defaultLib()
	}
	return o, o.llama.Check()
}

// libVariable names the environment variable that points at other libraries.
const libVariable = "DRAGOMAN_LLAMA_LIB"

// defaultLib returns the folder of libraries for those who name none.
func defaultLib() string {
	if dir := os.Getenv(libVariable); dir != "" {
		return dir
	}
	exe, err := os.Executable()
	if err != nil {
		return "lib"
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	return filepath.Join(filepath.Dir(exe), "lib")
}

func main() {
	o, err := parse(os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, "dragoman-engine:", err)
		os.Exit(2)
	case o.version:
		fmt.Println("dragoman-engine", version)
		os.Exit(0)
	}
	putOffTimers()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.supervised {
		ctx = untilEOF(ctx, os.Stdin)
	}
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "dragoman-engine:", err)
		os.Exit(1)
	}
	// llama.cpp's memory goes with the process.
	os.Exit(0)
}

// untilEOF returns a context that ends when r does. Its goroutine lives as
// long as the process.
func untilEOF(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		_, _ = io.Copy(io.Discard, r)
	}()
	return ctx
}

// run serves until ctx ends.
func run(ctx context.Context, o options, out io.Writer) error {
	switch {
	case o.estimate:
		return estimate(o, out)
	case o.check:
		return check(ctx, o)
	}
	ln, err := listen(ctx, o.listen)
	if err != nil {
		return err
	}
	defer ln.Close()
	// Loading may take minutes and cannot be interrupted from inside.
	loaded := context.AfterFunc(ctx, func() {
		ln.Close()
		os.Exit(1)
	})
	e, err := open(ctx, o)
	loaded()
	if err != nil {
		return err
	}
	return e.serve(ctx, ln, out)
}

// ready is the line that tells whoever started the engine where it is.
type ready struct {
	Address string `json:"address"`
	Model   string `json:"model"`
	Context int    `json:"n_ctx"`
	PID     int    `json:"pid"`
	GPU     string `json:"gpu,omitempty"`
}

// serve prints the ready line and answers requests until ctx ends; then it
// ends all streams and returns.
func (e *engine) serve(ctx context.Context, ln net.Listener, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		e.run(ctx)
	}()
	srv := &http.Server{Handler: e.handler, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	line, err := json.Marshal(ready{Address: address(ln), Model: e.name, Context: e.context, PID: os.Getpid(), GPU: e.model.GPU()})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
		return fmt.Errorf("printing the address: %w", err)
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving %s: %w", address(ln), err)
	case <-ctx.Done():
	}
	<-done // every stream has its last line now
	grace, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	if err := srv.Shutdown(grace); err != nil {
		return srv.Close()
	}
	return nil
}
