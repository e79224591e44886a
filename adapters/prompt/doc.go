// Package prompt renders conversations into prompts with chat templates, the
// Jinja programs that models are published with, byte for byte as Python's
// jinja2 does in transformers. It serves every backend that takes a prompt
// instead of messages. Where a template comes from, and what is done with the
// prompt, is left to others. docs/chat-templates.md says what clients can ask for, and how
// far the rendering agrees with Python's.
//
// A template is compiled once. Its whitespace rules are applied then, because
// the library under this package gets some of them wrong, and it is test-rendered
// with a fixed set of conversations, so that what it cannot do is known before
// the first request.
//
// A template is a program. Source size, nesting, steps, macro depth, time and
// the size of assigned values are bounded, and it can reach neither files nor
// the network. A hostile template can still exhaust memory inside one expression
// or compare a value with itself without end, so templates belong to the
// operator, never to a client.
package prompt
