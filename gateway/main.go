// Dragoman is the gateway: it serves the OpenAI API and translates it for the
// backends of config.yaml. This program reads flags and configuration, puts the
// parts together, serves, and stops in good order; all else is in its packages.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"dragoman/gateway/config"
	"dragoman/gateway/route"
	"dragoman/gateway/server"
)

var version = "dev" // set by the linker

// stopEngines is how long engines may take to end after the last request.
const stopEngines = 10 * time.Second

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the program; it returns its exit status.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && commands[args[0]].run != nil {
		return runCommand(args[0], args[1:], stdout, stderr)
	}
	flags := flag.NewFlagSet("dragoman", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintf(stderr, "dragoman serves the OpenAI API; dragoman pull MODEL, models, and rm MODEL look after models for the bundled engine.\n")
		flags.PrintDefaults()
	}
	file := flags.String("config", "config.yaml", "the configuration `file`")
	check := flags.Bool("check", false, "check the configuration and exit")
	ask := flags.Bool("probe", false, "ask every backend how it is and which models it has, and exit")
	showVersion := flags.Bool("version", false, "print the version and exit")
	level := flags.String("log-level", "", "log from this `level` on: debug, info, warn or error")
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "dragoman takes flags, or begins with pull, models or rm, not %q; see dragoman -help\n", flags.Args())
		return 2
	}
	if *showVersion {
		fmt.Fprintln(stdout, "dragoman", version)
		return 0
	}
	cfg, err := config.Load(*file)
	if err != nil {
		fmt.Fprintln(stderr, err)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(stderr, "name the configuration with -config FILE, or start where config.yaml is")
		}
		return 1
	}
	if *level != "" {
		if err := cfg.Log.Level.UnmarshalText([]byte(*level)); err != nil {
			fmt.Fprintf(stderr, "-log-level is debug, info, warn or error, not %q\n", *level)
			return 2
		}
	}
	log := newLog(cfg.Log, stderr)
	slog.SetDefault(log)
	table, err := route.New(cfg, route.Options{Log: log})
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", *file, err)
		return 1
	}
	defer closeTable(table, log)
	if *check {
		fmt.Fprintf(stdout, "%s is good; its models: %s\n", *file, names(cfg))
		return 0
	}
	if *ask {
		ctx, forget := signal.NotifyContext(context.Background(), os.Interrupt)
		defer forget()
		return probe(ctx, table, stdout)
	}
	listeners, err := listen(cfg.Listen, log)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	greet(stderr, log, cfg, listeners)
	if err := serve(newServer(cfg, table, log), listeners, cfg.Drain, log); err != nil {
		log.Error("serving failed", "error", err)
		return 1
	}
	return 0
}

// names lists the models, for a person.
func names(cfg *config.Config) string {
	list := make([]string, len(cfg.Models))
	for i := range cfg.Models {
		list[i] = cfg.Models[i].Name
	}
	return strings.Join(list, ", ")
}

func newLog(o config.Log, w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: o.Level}
	if o.JSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

func newServer(cfg *config.Config, table *route.Table, log *slog.Logger) *server.Server {
	keys := make([]string, len(cfg.Keys))
	for i, key := range cfg.Keys {
		keys[i] = key.Reveal()
	}
	return server.New(server.Options{
		Router: router{table}, ForwardAuth: route.WithAuthorization, Trace: route.WithTrace, Log: log,
		Keys: keys, Origins: cfg.Origins, Hosts: cfg.Hosts,
		BodyLimit: cfg.BodyLimit, CommitAfter: cfg.CommitAfter, KeepAlive: cfg.KeepAlive, WriteStall: cfg.WriteTimeout,
	})
}

// router is a Table as the server sees it.
type router struct{ *route.Table }

func (r router) Pick(name string) (server.Model, error) {
	m, err := r.Table.Pick(name)
	if err != nil {
		return nil, err // not a nil *Model in an interface
	}
	return m, nil
}

// serve serves until a signal comes, then lets running answers end for at most
// drain. A second signal ends them at once.
func serve(s *server.Server, listeners []net.Listener, drain time.Duration, log *slog.Logger) error {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} // SIGHUP: the terminal is gone
	asked, forget := signal.NotifyContext(context.Background(), signals...)
	defer forget()
	served := make(chan error, 1)
	go func() { served <- s.Serve(listeners...) }()
	select {
	case err := <-served:
		return err
	case <-asked.Done():
	}
	log.Info("stopping", "drain", drain)
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	ctx, forget = signal.NotifyContext(ctx, signals...)
	defer forget()
	if err := s.Shutdown(ctx); err != nil {
		log.Warn("answers were cut off", "cause", err)
	}
	return <-served
}

func closeTable(table *route.Table, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), stopEngines)
	defer cancel()
	if err := table.Close(ctx); err != nil {
		log.Warn("stopping engines", "error", err)
	}
}
