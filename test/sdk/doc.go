// Package sdk runs the Go clients openai-go and go-openai against the gateway.
// It is a module of its own, so that theirs are no dependencies of Dragoman.
package sdk
