// Package sse writes one streamed answer to one client: it is the response body
// that fasthttp pulls. It holds the status back until the backend has spoken,
// fills silence with keep-alives, notices a client that left and ends a failed
// stream with an error frame.
//
// What the frames look like is the Encoder's business (package openai), where
// the events come from the Source's (package stream). Write deadlines belong to
// the connection (package server).
package sse
