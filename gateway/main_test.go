package main

import (
	"bytes"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goodConfig = `
listen: ["127.0.0.1:0"]
models:
  m: {adapter: openai, url: "http://127.0.0.1:1"}
`

func configFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestFlags(t *testing.T) {
	good, bad := configFile(t, goodConfig), configFile(t, "modles: {}\n")
	f := func(status int, says string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		if got := run(args, &out, &out); got != status || !strings.Contains(out.String(), says) {
			t.Errorf("%q: status %d, said %s", args, got, out.String())
		}
	}
	f(0, "dragoman dev", "-version")
	f(0, "-log-level level", "-help")
	f(0, "is good; its models: m\n", "-check", "-config", good)
	f(1, "DOWN   The backend refused the connection. (dial", "-probe", "-config", good)
	f(1, "modles", "-check", "-config", bad)
	f(1, "no such file", "-check", "-config", good+".not")
	f(1, "with -config FILE", "-config", good+".not")
	f(2, "-check", "-nonsense")
	f(2, "takes flags, or begins with pull, models or rm, not [\"serve\"]", "serve")
	f(2, `not "loud"`, "-log-level", "loud", "-check", "-config", good)
}

func TestOnlyTheFirstAddressMustBeFree(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	listeners, err := listen([]string{"127.0.0.1:0", taken.Addr().String(), "127.0.0.1:0"}, log)
	if err != nil || len(listeners) != 2 || !strings.Contains(out.String(), "level=WARN") || !strings.Contains(out.String(), taken.Addr().String()) {
		t.Errorf("got %v, %v; logged %s", listeners, err, out.String())
	}
	for _, ln := range listeners {
		ln.Close()
	}
	if _, err := listen([]string{taken.Addr().String(), "127.0.0.1:0"}, log); err == nil || !strings.Contains(err.Error(), "another program listens on "+taken.Addr().String()) {
		t.Errorf("the first is taken: %v", err)
	}
}
