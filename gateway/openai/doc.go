// Package openai is the only place that reads OpenAI requests and writes OpenAI
// answers. A body becomes an Ask (strict where OpenAI is, tolerant where its
// clients need it); events become the chunks of a stream, and a collected
// answer one JSON object, both by appending bytes.
//
// It knows no HTTP beyond status numbers: headers, routes and flushing are the
// server's work. Whether a backend can do what a request needs is the router's:
// the parser only lists it in Request.Needs.
package openai
