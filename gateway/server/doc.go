// Package server is the HTTP front end, on fasthttp: it takes a client's request
// off the wire, lets package openai read it, asks a Router for the model and
// writes the answer, streamed (package sse) or whole. It owns the connections:
// deadlines, disconnects, limits, graceful stop.
//
// It knows no OpenAI field and no backend: those belong to packages openai and
// route. One request walks serve -> access -> route -> generate -> stream or
// collect; every reply passes through reply.go.
package server
