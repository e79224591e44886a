package harness

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dragoman/gateway/config"
	"dragoman/gateway/route"
	"dragoman/gateway/server"
)

// Gateway starts a gateway with this configuration on a loopback port and
// returns its URL. It stops with the test, and leaves no goroutine then.
func Gateway(t testing.TB, yaml string) string {
	t.Helper()
	base, _ := GatewayWithLog(t, yaml)
	return base
}

// GatewayWithLog is Gateway, and its log.
func GatewayWithLog(t testing.TB, yaml string) (string, *Log) {
	t.Helper()
	cfg, err := config.Parse([]byte(yaml))
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, yaml)
	}
	lines := NewLog()
	log := slog.New(slog.NewTextHandler(lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	table, err := route.New(cfg, route.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Options{
		Router: router{table}, Trace: route.WithTrace, Log: log, BodyLimit: cfg.BodyLimit,
		CommitAfter: cfg.CommitAfter, KeepAlive: cfg.KeepAlive, WriteStall: cfg.WriteTimeout,
	})
	running.Add(1)
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(s.Shutdown(ctx), <-served, table.Close(ctx)); err != nil {
			t.Errorf("stopping the gateway: %v", err)
		}
		if running.Add(-1) == 0 {
			noneLeft(t)
		}
	})
	return "http://" + listener.Addr().String(), lines
}

// running counts the gateways of this process: only after the last is there
// nothing of theirs to be found.
var running atomic.Int32

type router struct{ *route.Table }

func (r router) Pick(name string) (server.Model, error) { return r.Table.Pick(name) }

// noneLeft fails the test if goroutines of the gateway's own code stay.
func noneLeft(t testing.TB) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left := ""
		for _, g := range strings.Split(string(stacks), "\n\n") {
			if strings.Contains(g, "dragoman/gateway/") || strings.Contains(g, "dragoman/adapters/") {
				left += g + "\n\n"
			}
		}
		if left == "" {
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			t.Errorf("goroutines stay:\n%s", left)
			return
		}
	}
}
