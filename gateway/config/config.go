package config

import (
	"log/slog"
	"time"

	"dragoman/adapters"
)

// Config is a whole checked configuration. It is read-only and may be shared.
type Config struct {
	// Listen holds the addresses to serve, host:port each; unix:PATH is a Unix
	// socket. Default 127.0.0.1:8000.
	Listen []string
	// Insecure allows addresses that other machines reach without any keys.
	Insecure bool
	// Keys are what clients must send as "Authorization: Bearer KEY", any of
	// them. Empty: no key is asked for.
	Keys []Secret
	// Origins are the browser origins that may call, such as
	// https://chat.example.org, beside those on localhost; "*" is any.
	Origins []string
	// Hosts are the Host headers that are served when there are no keys, beside
	// IP addresses and localhost: names without port.
	Hosts []string

	// BodyLimit bounds a request's body, FrameLimit one frame of a backend's
	// answer, in bytes. Default 32MiB and 8MiB.
	BodyLimit, FrameLimit int64
	// EngineMemory bounds what the bundled engines may take together, in bytes.
	// Default 0: what the machine has, less a reserve.
	EngineMemory int64
	// Drain is how long running answers may take to end after a stop was asked
	// for. Default 30s.
	Drain time.Duration
	// CommitAfter is how long the status of a stream waits for the backend's
	// first event, so that a failure can still be a proper HTTP error. Default 10s.
	CommitAfter time.Duration
	// KeepAlive is how long a stream may be silent before an empty chunk is sent.
	// Default 15s.
	KeepAlive time.Duration
	// WriteTimeout ends a stream whose client takes nothing for so long. Default 30s.
	WriteTimeout time.Duration
	// Log says what is logged and how.
	Log Log

	// Models are the names that clients may ask for, in the order of the file.
	Models []Model
	// Adapters are the dialects that backends may name, the shipped ones and
	// those of the adapters section.
	Adapters map[string]adapters.Adapter
}

// Log says what is logged and how.
type Log struct {
	Level slog.Level // debug, info (default), warn or error
	JSON  bool       // format: json; default is text
}

// DefaultMaxTokens bounds an answer whose client set no bound, where the
// backend has no "no limit" of its own and the configuration says nothing.
const DefaultMaxTokens = 1024

// defaults is what an absent key means.
var defaults = Config{
	Listen:       []string{"127.0.0.1:8000"},
	BodyLimit:    32 << 20,
	FrameLimit:   8 << 20,
	Drain:        30 * time.Second,
	CommitAfter:  10 * time.Second,
	KeepAlive:    15 * time.Second,
	WriteTimeout: 30 * time.Second,
}
