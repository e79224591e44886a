// Package frame cuts a backend's byte stream into frames: server-sent events,
// JSON values, lines, raw bytes. It cuts on delimiters, never on reads, and
// leaves the meaning of a frame to the adapters.
package frame
