// Package clients runs real OpenAI client libraries, of today and of 2023,
// against the gateway's binary and a fake FastChat worker: make clients.
package clients
