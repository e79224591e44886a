//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listeners, err := listen([]string{"unix:" + path}, slog.Default())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listenOn("unix:" + path); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a socket in use: %v", err)
	}
	listeners[0].(*net.UnixListener).SetUnlinkOnClose(false) // as a killed gateway would
	listeners[0].Close()
	again, err := listenOn("unix:" + path)
	if err != nil {
		t.Fatalf("a socket left behind: %v", err)
	}
	again.Close()
}

// What the configuration names by mistake is not to be removed.
func TestUnixSocketLeavesOtherFilesAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ln, err := listenOn("unix:" + path); err == nil {
		ln.Close()
		t.Error("it listens where a file is")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "precious" {
		t.Errorf("the file holds %q, %v", data, err)
	}
}

// greeting gives what run writes and, once, the address in it.
type greeting struct {
	all  bytes.Buffer
	line chan string
}

func (g *greeting) Write(p []byte) (int, error) {
	if m := regexp.MustCompile(`on (127\.0\.0\.1:\d+)`).FindSubmatch(p); m != nil {
		g.line <- string(m[1])
	}
	return g.all.Write(p)
}

func TestServeUntilASignal(t *testing.T) {
	f := func(sent syscall.Signal) {
		t.Helper()
		out := &greeting{line: make(chan string, 1)}
		status := make(chan int, 1)
		go func() { status <- run([]string{"-config", configFile(t, goodConfig)}, io.Discard, out) }()
		address := <-out.line
		resp, err := http.Get(fmt.Sprintf("http://%s/v1/models", address))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(body), `"id":"m"`) {
			t.Errorf("got %s, %v", body, err)
		}
		if err := syscall.Kill(os.Getpid(), sent); err != nil {
			t.Fatal(err)
		}
		if got := <-status; got != 0 {
			t.Errorf("%v: status %d; %s", sent, got, out.all.String())
		}
		if !strings.Contains(out.all.String(), "curl -N http://localhost:") {
			t.Errorf("it does not say how to talk to it: %s", out.all.String())
		}
	}
	f(syscall.SIGINT) // ctrl-C
	f(syscall.SIGTERM)
	f(syscall.SIGHUP) // a terminal that was closed
}
