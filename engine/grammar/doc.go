// Package grammar keeps what a model writes within a grammar: JSON, the
// documents of a JSON schema, or a grammar in llama.cpp's notation (GBNF).
//
// A schema or a text becomes rules over bytes, the rules become a program, and
// a Matcher runs the program beside the answer, token by token. It is a machine
// with a stack, so that documents nest; it follows all ways of reading a text
// at once, and remembers what it has seen, so that a byte mostly costs one look
// into a table. Which of a whole vocabulary's tokens may come next it finds in
// one walk over the sorted vocabulary, past everything that begins in vain.
//
// Schemas and grammars come from strangers: their size and the work for them
// are bounded, and whatever a schema says that cannot be kept is an error.
package grammar
