package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"

	"dragoman/gateway/config"
)

// listen opens the addresses. Only the first one must be free: the others, such
// as a second well-known port, may be somebody else's.
func listen(addresses []string, log *slog.Logger) ([]net.Listener, error) {
	var listeners []net.Listener
	for i, address := range addresses {
		ln, err := listenOn(address)
		switch {
		case err == nil:
			listeners = append(listeners, ln)
		case i > 0 && taken(err):
			log.Warn("the address is taken, going on without it", "address", address)
		default:
			for _, ln := range listeners {
				_ = ln.Close()
			}
			if taken(err) {
				return nil, fmt.Errorf("another program listens on %s: stop it, or change listen: in the configuration", address)
			}
			return nil, fmt.Errorf("listening on %s: %w", address, err)
		}
	}
	return listeners, nil
}

func listenOn(address string) (net.Listener, error) {
	path, ok := strings.CutPrefix(address, "unix:")
	if !ok {
		return net.Listen("tcp", address)
	}
	ln, err := net.Listen("unix", path)
	if !taken(err) {
		return ln, err
	}
	// A gateway that was killed leaves its socket behind; nobody answers there.
	if !abandoned(path) {
		return nil, err
	}
	if removeErr := os.Remove(path); removeErr != nil {
		return nil, errors.Join(err, removeErr)
	}
	return net.Listen("unix", path)
}

// taken reports whether err says that somebody else listens there.
func taken(err error) bool {
	const wsaeaddrinuse syscall.Errno = 10048 // Windows' name for it; no other system's number is so large
	return errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, wsaeaddrinuse)
}

// abandoned reports whether path is a socket that nobody listens on. It may as
// well be a file, or the socket of somebody who lets no one in.
func abandoned(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		_ = c.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// greet says how to talk to the gateway: to a person with a line to try.
func greet(w io.Writer, log *slog.Logger, cfg *config.Config, listeners []net.Listener) {
	where := make([]string, len(listeners))
	for i, ln := range listeners {
		where[i] = ln.Addr().String()
	}
	if cfg.Log.JSON { // a program reads it
		log.Info("serving", "version", version, "addresses", where)
		return
	}
	fmt.Fprintf(w, "dragoman %s serves the OpenAI API on %s\n", version, strings.Join(where, " and "))
	address, ok := listeners[0].Addr().(*net.TCPAddr)
	model := firstModel(cfg)
	if !ok || model == "" {
		return
	}
	host := net.JoinHostPort("localhost", fmt.Sprint(address.Port))
	if !address.IP.IsLoopback() && !address.IP.IsUnspecified() {
		host = address.String()
	}
	key := ""
	if len(cfg.Keys) > 0 {
		key = ` -H "Authorization: Bearer YOUR_KEY"`
	}
	fmt.Fprintf(w, "try: curl -N http://%s/v1/chat/completions%s -d '{\"model\":\"%s\",\"stream\":true,"+
		"\"messages\":[{\"role\":\"user\",\"content\":\"Story about a dog.\"}]}'\n", host, key, model)
}

// firstModel returns a name that a request can use, "" if there are wildcards only.
func firstModel(cfg *config.Config) string {
	for i := range cfg.Models {
		if !cfg.Models[i].Wildcard() {
			return cfg.Models[i].Name
		}
	}
	return ""
}
