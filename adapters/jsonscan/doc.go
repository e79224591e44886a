// Package jsonscan looks at JSON that strangers sent before anything else
// does. Its one pass over the bytes uses no recursion, so that no nesting can
// exhaust the stack, and it tells validity (RFC 8259), a bound on depth, where
// the members of an object lie, and names that occur twice, about which
// parsers disagree.
//
// It looks at no byte from 0x80 on: JSON has those only in strings. A caller
// that needs UTF-8 asks utf8.Valid of the whole text. Meaning (which member is
// needed, what its type must be) is left to callers, and so is the reading of
// numbers: a value is the bytes that were sent.
package jsonscan
